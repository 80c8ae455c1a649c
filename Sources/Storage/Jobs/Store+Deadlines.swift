import Downloads
import Foundation
import GRDB

/// Jobs that have run out of time.
extension Store {
    /// Fails them where they are; those under way are to be stopped.
    ///
    /// - Parameter onCommit: see `Writer`.
    /// - Returns: what became of each, and when the next will have run out.
    public func failOverdueJobs(
        limit: Int = 500, onCommit: @escaping @Sendable ([SignalOutcome]) -> Void
    ) async throws -> (outcomes: [SignalOutcome], next: Date?) {
        let now = time.now.milliseconds
        let next = try read { db in
            try Int64.fetchOne(db.cachedStatement(sql: "SELECT min(fails_at) FROM jobs WHERE fails_at IS NOT NULL"))
        }
        guard let next, next <= now else { return ([], next.map(Date.init(milliseconds:))) }
        let outcomes = try await writer.write(onCommit: onCommit) { try $0.failOverdueJobs(limit) }
        // There may be more where there were many. Those that are stopping keep their limit until they have stopped.
        let hasFailedAny = outcomes.contains { $0.job.state.name == .failed }
        return (outcomes, time.now.addingTimeInterval(hasFailedAny ? 0 : 1))
    }
}

extension Transaction {
    fileprivate func failOverdueJobs(_ limit: Int) throws -> [SignalOutcome] {
        try rows(
            "SELECT id FROM jobs WHERE fails_at IS NOT NULL AND fails_at <= ? ORDER BY fails_at LIMIT ?",
            [now.milliseconds, limit]
        ).map { row in
            let job = try job(JobID(row["id"]))
            return try send(.timeElapsed(job.overdue(at: now)), to: job)
        }
    }
}

extension Job {
    fileprivate func overdue(at now: Date) -> Failure {
        let why =
            spec.deadline.map { $0 <= now } ?? false
            ? "The deadline has passed before the download had ended."
            : "The download has taken longer than timeouts.resource_seconds allows."
        return Failure(.deadlineExceeded, why, attempts: attempts, at: now)
    }
}
