import HTTPServer
import HTTPTypes
import Logging
import Metrics

/// One request, from its head to its response.
struct RequestRecord: Sendable {
    let head: RequestHead
    /// nil: the response is one that fetchd keeps rendered for all clients, and the client has sent no identifier.
    let id: RequestID?
    /// nil: the request was refused before its route, or its caller, was known.
    private let match: RouteMatch?
    private let caller: Caller?
    private let watch: Stopwatch
    private var hasWaited = false

    init(_ head: RequestHead, _ match: RouteMatch?, _ caller: Caller?, _ id: RequestID?, _ watch: Stopwatch) {
        (self.head, self.match, self.caller, self.id, self.watch) = (head, match, caller, id, watch)
    }

    /// The same request, which waits for a change.
    var waiting: RequestRecord {
        var record = self
        record.hasWaited = true
        return record
    }

    /// Who holds the memory of the response: the caller, or the address of a client that needs no permission.
    var holder: String {
        guard let caller, caller !== Caller.unknown else { return head.remoteAddress }
        return caller.identity
    }

    func note(_ status: HTTPResponse.Status, in measurements: RequestMeasurements) {
        measurements.note(hasWaited ? .wait : match?.route.group ?? .other, status, watch)
    }

    /// The fields of every line of the log about this request.
    var logFields: Logger.Metadata {
        var fields: Logger.Metadata = [:]
        if let id { fields["request"] = "\(id.text)" }
        if let job = match?.job { fields["job"] = "\(job)" }
        return fields
    }

    /// The line of the request log. It leaves out the query, which may contain secrets.
    ///
    /// - Parameters:
    ///   - created: the job that the request has created; nil if it has created none, or several.
    ///   - bytes: of the body; nil if its length is not known before it is sent.
    func logFields(_ status: HTTPResponse.Status, created: String?, bytes: Int?) -> Logger.Metadata {
        var fields = logFields
        fields["method"] = "\(head.method.rawValue)"
        fields["path"] = "\(head.path)"
        fields["status"] = .stringConvertible(status.code)
        fields["duration_seconds"] = .stringConvertible((watch.seconds * 1e6).rounded() / 1e6)
        fields["address"] = "\(head.clientAddress)"
        if let bytes { fields["bytes"] = .stringConvertible(bytes) }
        if let label = caller?.label { fields["caller"] = "\(label)" }
        if let created { fields["job"] = "\(created)" }
        return fields
    }
}
