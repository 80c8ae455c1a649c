import Formats

/// What `session.finished` says.
extension Batch {
    /// Failures listed in the event; the rest are in the journal between its first and last event.
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
