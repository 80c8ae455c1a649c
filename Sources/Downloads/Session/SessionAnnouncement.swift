import Formats

/// What `session.waiting` says: whose help is needed, and for what.
extension Session {
    /// Jobs listed in the event, oldest first; the session's list has all of them.
    public static let mostJobsAnnounced = 100

    /// - Parameters:
    ///   - counts: how many jobs wait for each kind of help.
    ///   - jobs: the first of them, each with its wait.
    public static func waitingAnnouncement(_ counts: [Wait.Name: Int], jobs: [(id: JobID, wait: Wait)]) -> JSONObject {
        [
            "counts": [
                "credentials": .count(counts[.credentials] ?? 0), "url": .count(counts[.url] ?? 0),
            ],
            "jobs": .array(
                jobs.map { job, wait in
                    [
                        "job": .string(job.text), "reason": .string(wait.name.rawValue),
                        "challenge": wait.challenge?.document ?? .null,
                    ]
                }),
        ]
    }
}
