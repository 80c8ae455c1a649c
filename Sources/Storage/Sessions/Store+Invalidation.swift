import Downloads
import Foundation
import GRDB

/// A deleted session that is settled, or a part of it: large ones are forgotten in steps.
public struct ClosingStep: Sendable, Equatable {
    public var session: Name
    /// Parts of its jobs, promised no longer.
    public var dropped: [PartID]
    /// Whether nothing of it is left.
    public var isGone: Bool
}

/// The end of a session: no more jobs, then everything it owes, then nothing.
extension Store {
    /// From now on the session takes no more jobs; its due batch finishes at once.
    ///
    /// - Throws: `noSuchSession`; `sessionPermanent` for `default`.
    public func invalidateSession(_ id: Name) async throws {
        try await writer.write { transaction in
            _ = try transaction.session(id)
            guard id != .default else { throw StoreError.sessionPermanent(id) }
            try transaction.run("UPDATE sessions SET is_finishing = 1 WHERE id = ?", [id.text])
            try transaction.hurryBatch(id)
            transaction.wake(.sessions)
        }
    }

    /// Forgets a step's worth of the deleted sessions that owe nothing more: no job, no finish, no delivery. Their events
    /// and the log of their deliveries stay in the journal, their files on the disk.
    ///
    /// - Parameter held: sessions that stay for now; asked in the transaction, so that one that is held before its last
    ///   debt is settled is never gone.
    /// - Returns: nothing when there is nothing left to do.
    public func closeSettledSessions(
        besides held: @escaping @Sendable () -> Set<Name> = { [] }, sessionsInAStep: Int = 100, jobsInAStep: Int = 1000
    ) async throws -> [ClosingStep] {
        guard try read({ try String.fetchOne($0.cachedStatement(sql: Self.settledSessions)) }) != nil else { return [] }
        return try await writer.write { transaction in
            let held = held()
            let settled = try transaction.rows(Self.settledSessions).map { Name(trusted: $0["id"]) }
            return try settled.filter { !held.contains($0) }.prefix(sessionsInAStep).map { session in
                try transaction.close(session, jobsInAStep: jobsInAStep)
            }
        }
    }

    private static let settledSessions = """
        SELECT id FROM sessions WHERE is_finishing = 1
            AND NOT EXISTS (SELECT 1 FROM batches WHERE session = sessions.id AND state IN ('open', 'due'))
            AND NOT EXISTS (
                SELECT 1 FROM webhooks JOIN deliveries ON deliveries.webhook = webhooks.key
                WHERE webhooks.session = sessions.id AND deliveries.state = 'pending')
        """
}

extension Transaction {
    fileprivate func close(_ session: Name, jobsInAStep: Int) throws -> ClosingStep {
        let parts = try rows(
            """
            SELECT parts.id FROM parts JOIN jobs ON jobs.id = parts.job WHERE jobs.id IN (\(Self.firstJobs))
            """, [session.text, jobsInAStep])
        for job in try rows(Self.firstJobs, [session.text, jobsInAStep]) { touch(JobID(job["id"])) }
        try run("DELETE FROM jobs WHERE id IN (\(Self.firstJobs))", [session.text, jobsInAStep])
        let isGone = changedRows < jobsInAStep
        if isGone {
            try run("DELETE FROM batches WHERE session = ?", [session.text])
            try run("DELETE FROM sessions WHERE id = ?", [session.text])
        } else {
            wake(.sessions)
        }
        return ClosingStep(session: session, dropped: parts.map { PartID($0["id"]) }, isGone: isGone)
    }

    private static let firstJobs = "SELECT id FROM jobs WHERE session = ? ORDER BY id LIMIT ?"
}
