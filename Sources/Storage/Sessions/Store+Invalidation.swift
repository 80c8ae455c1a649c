import Downloads
import GRDB

/// Ends sessions: a deleted session takes no more jobs, settles what it owes, and is removed.
extension Store {
    /// Marks a session as deleted: it takes no more jobs, and its due batch finishes at once.
    ///
    /// - Throws: `noSuchSession`; `sessionPermanent` for `default`.
    public func invalidateSession(_ id: Name) async throws {
        try await writer.write { try $0.invalidateSession(id) }
    }

    /// Removes deleted sessions that owe nothing more: no job, no finish and no delivery. Large sessions take several
    /// steps. Their events and delivery logs stay in the journal, and their files on the disk.
    ///
    /// - Parameter held: returns the sessions that must stay for now. The transaction calls it, so a session that is held
    ///   before its last debt is settled is never removed.
    /// - Returns: one step for each session; empty when there is nothing left to remove.
    public func removeSettledSessions(
        besides held: @escaping @Sendable () -> Set<Name> = { [] }, sessionsInAStep: Int = 100, jobsInAStep: Int = 1000
    ) async throws -> [SessionRemovalStep] {
        let hasSettled = try await read { db in
            try String.fetchOne(db.cachedStatement(sql: Transaction.settledSessions)) != nil
        }
        guard hasSettled else { return [] }
        return try await writer.write { transaction in
            let held = held()
            let settled = try transaction.settledSessions().filter { !held.contains($0) }
            return try transaction.removeSessions(settled.prefix(sessionsInAStep), jobsInAStep: jobsInAStep)
        }
    }
}
