import Downloads
import GRDB

extension Transaction {
    func applySignal(
        _ signal: JobSignal, toJobsOf session: Name, after: JobID?, limit: Int
    ) throws -> SessionActionStep {
        _ = try self.session(session)
        let rows = try rows(
            Self.outstandingJobs,
            ["session": session.text, "after": after?.text ?? "", "limit": limit])
        let jobs = rows.map { JobID($0["id"]) }
        let outcomes = try jobs.map { try transitionJob($0, on: signal) }
        return SessionActionStep(outcomes: outcomes, next: jobs.count == limit ? jobs.last : nil)
    }

    /// Reads the next jobs of each state from an index, so jobs that have ended cost nothing.
    static let outstandingJobs = """
        SELECT id FROM (SELECT id FROM jobs WHERE coalesce(session, '') = :session AND state = 'running' AND id > :after
            ORDER BY id LIMIT :limit)
        """
        + ["queued", "waiting", "paused"].map { state in
            """
             UNION ALL SELECT id FROM (SELECT id FROM jobs WHERE session = :session AND state = '\(state)'
                AND state <> 'running' AND id > :after ORDER BY id LIMIT :limit)
            """
        }.joined() + " ORDER BY id LIMIT :limit"
}
