import Logging

extension RequestContext {
    /// The fields of a line of the log that says who has asked for something.
    var logFields: Logger.Metadata {
        var fields: Logger.Metadata = ["address": "\(head.clientAddress)"]
        if let id { fields["request"] = "\(id.text)" }
        if let label = caller.label { fields["caller"] = "\(label)" }
        return fields
    }
}
