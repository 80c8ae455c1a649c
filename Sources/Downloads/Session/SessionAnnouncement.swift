import Formats

/// What `session.waiting` says: whose help is needed, and for what.
public struct HelpNeeded: Sendable {
    /// Jobs told in the event, oldest first; the session's list has all of them.
    public static let mostJobs = 100

    /// How many jobs wait for each kind of help.
    public var counts: [Wait.Name: Int]
    /// The first of them, each with its wait.
    public var jobs: [(id: JobID, wait: Wait)]

    public init(counts: [Wait.Name: Int], jobs: [(id: JobID, wait: Wait)]) {
        self.counts = counts
        self.jobs = jobs
    }

    public var announcement: JSONObject {
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
