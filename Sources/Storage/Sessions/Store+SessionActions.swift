import Downloads
import GRDB

/// What came of a signal to some of a session's jobs.
public struct SessionSweep: Sendable {
    /// What each job became, or was asked to become.
    public var outcomes: [SignalOutcome]
    /// Where the next step goes on; nil when there is none.
    public var next: JobID?
}

/// One action on all jobs of a session.
extension Store {
    /// Sends a signal to the outstanding jobs of a session that were created before, a step at a time, so that no other
    /// change waits long for a large session.
    ///
    /// - Parameters:
    ///   - after: where the step before ended; nil begins.
    ///   - onCommit: see `Writer`.
    /// - Throws: `noSuchSession`.
    public func sendToSession(
        _ session: Name, _ signal: JobSignal, after: JobID?, limit: Int = 500,
        onCommit: @escaping @Sendable (SessionSweep) -> Void
    ) async throws -> SessionSweep {
        try await writer.write(onCommit: onCommit) { transaction in
            _ = try transaction.session(session)
            // Only the current batch has outstanding jobs.
            guard let batch = try transaction.currentBatch(session)?.number else { return SessionSweep(outcomes: []) }
            let rows = try transaction.rows(
                Self.outstandingJobs,
                ["session": session.text, "batch": batch, "after": after?.text ?? "", "limit": limit])
            let jobs = rows.map { JobID($0["id"]) }
            let outcomes = try jobs.map { try transaction.send(signal, to: $0) }
            return SessionSweep(outcomes: outcomes, next: jobs.count == limit ? jobs.last : nil)
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
