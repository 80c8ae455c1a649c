import Downloads
import GRDB

extension Transaction {
    func applySignal(
        _ signal: JobSignal, toJobsOf session: Name, after: JobID?, limit: Int
    ) throws -> SessionActionStep {
        _ = try self.session(session)
        // Only the current batch has outstanding jobs.
        guard let batch = try currentBatch(session)?.number else { return SessionActionStep(outcomes: []) }
        let rows = try rows(
            Self.outstandingJobs,
            ["session": session.text, "batch": batch, "after": after?.text ?? "", "limit": limit])
        let jobs = rows.map { JobID($0["id"]) }
        let outcomes = try jobs.map { try transitionJob($0, on: signal) }
        return SessionActionStep(outcomes: outcomes, next: jobs.count == limit ? jobs.last : nil)
    }

    /// Reads the next jobs of each state from the index of batches, so jobs that have ended cost nothing.
    static let outstandingJobs =
        ["queued", "running", "waiting", "paused"].map { state in
            """
            SELECT id FROM (SELECT id FROM jobs WHERE session = :session AND batch = :batch AND state = '\(state)'
                AND id > :after ORDER BY id LIMIT :limit)
            """
        }.joined(separator: " UNION ALL ") + " ORDER BY id LIMIT :limit"
}
