import Downloads
import GRDB

/// One action on all jobs of a session.
extension Store {
    /// Sends a signal to the outstanding jobs of a session that were created before, a step at a time, so that no other
    /// change waits long for a large session.
    ///
    /// - Parameters:
    ///   - after: where the step before ended; nil begins.
    ///   - onCommit: see `Writer`.
    /// - Throws: `noSuchSession`.
    public func apply(
        _ signal: JobSignal, toJobsOf session: Name, after: JobID?, limit: Int = 500,
        onCommit: @escaping @Sendable (SessionActionStep) -> Void
    ) async throws -> SessionActionStep {
        try await writer.write(onCommit: onCommit) { transaction in
            _ = try transaction.session(session)
            // Only the current batch has outstanding jobs.
            guard let batch = try transaction.currentBatch(session)?.number else {
                return SessionActionStep(outcomes: [])
            }
            let rows = try transaction.rows(
                Self.outstandingJobs,
                ["session": session.text, "batch": batch, "after": after?.text ?? "", "limit": limit])
            let jobs = rows.map { JobID($0["id"]) }
            let outcomes = try jobs.map { try transaction.transitionJob($0, on: signal) }
            return SessionActionStep(outcomes: outcomes, next: jobs.count == limit ? jobs.last : nil)
        }
    }

    /// Of each state the next ones by the index of batches: however many have ended, they are not looked at.
    static let outstandingJobs =
        ["queued", "running", "waiting", "paused"].map { state in
            """
            SELECT id FROM (SELECT id FROM jobs WHERE session = :session AND batch = :batch AND state = '\(state)'
                AND id > :after ORDER BY id LIMIT :limit)
            """
        }.joined(separator: " UNION ALL ") + " ORDER BY id LIMIT :limit"
}
