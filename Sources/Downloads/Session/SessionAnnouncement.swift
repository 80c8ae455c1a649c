import Formats

/// The data of `session.waiting`: the jobs that need help, and the kind of help.
extension Session {
    /// The maximum number of jobs in the event, oldest first. The job list of the session contains all of them.
    public static let mostJobsAnnounced = 100

    /// - Parameters:
    ///   - counts: how many jobs wait for each kind of help.
    ///   - jobs: the oldest of these jobs, each with its wait.
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
