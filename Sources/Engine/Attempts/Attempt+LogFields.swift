import Logging

extension Attempt {
    /// The fields of a line of the log about this attempt.
    var logFields: Logger.Metadata {
        var fields: Logger.Metadata = [
            "job": "\(job.id)", "session": "\(job.session)", "attempt": .stringConvertible(job.attempts),
        ]
        if let trace = job.trace { fields["trace"] = "\(trace.traceID)" }
        return fields
    }
}
