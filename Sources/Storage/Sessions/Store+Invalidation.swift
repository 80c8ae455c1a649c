import Downloads
import Foundation
import GRDB

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
            try transaction.expediteBatch(id)
            transaction.wake(.sessions)
        }
    }

    /// Forgets a step's worth of the deleted sessions that owe nothing more: no job, no finish, no delivery. Their events
    /// and the log of their deliveries stay in the journal, their files on the disk.
    ///
    /// - Parameter held: sessions that stay for now; asked in the transaction, so that one that is held before its last
    ///   debt is settled is never gone.
    /// - Returns: nothing when there is nothing left to do.
    public func removeSettledSessions(
        besides held: @escaping @Sendable () -> Set<Name> = { [] }, sessionsInAStep: Int = 100, jobsInAStep: Int = 1000
    ) async throws -> [SessionRemovalStep] {
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
