import Formats

/// The data of `session.finished`.
extension Batch {
    /// The maximum number of failures in the event. The journal contains the others, between the first and last event
    /// of the batch.
    public static let mostFailures = 100

    public func announcement(lastEvent: EventID, failures: [(JobID, Failure?)]) -> JSONObject {
        [
            "batch": .count(number), "outcome": .string(outcome.rawValue),
            "counts": [
                "succeeded": .count(counts.succeeded), "failed": .count(counts.failed),
                "cancelled": .count(counts.cancelled),
            ],
            "first_event": .optional(firstEvent), "last_event": .integer(lastEvent),
            "failures": .array(
                failures.map { job, failure in
                    [
                        "job": .string(job.text), "code": .optional(failure?.code.rawValue),
                        "message": .optional(failure?.message), "status": .optional(failure?.status),
                    ]
                }),
        ]
    }
}
