import Downloads

/// Ends sessions. A deleted session accepts no more jobs, settles its jobs, finishes and deliveries, and is then
/// removed.
extension Store {
    /// Marks a session as deleted: it accepts no more jobs, and its due batch finishes at once.
    ///
    /// - Throws: `noSuchSession`; `sessionPermanent` for `default`.
    public func invalidateSession(_ id: Name, audit note: AuditNote? = nil) async throws {
        try await writer.write { transaction in
            try transaction.invalidateSession(id)
            try transaction.audit(note)
        }
    }

    /// Removes the deleted sessions whose jobs, finishes and deliveries are all settled. Large sessions take several
    /// steps. Their events and delivery logs stay in the journal, and their files on the disk.
    ///
    /// - Parameter held: returns the sessions that must stay for now. The transaction calls it. So a session is never
    ///   removed if its hold began before its last job, finish or delivery was settled.
    /// - Returns: one step for each session; empty when no session is left to remove.
    public func removeSettledSessions(
        besides held: @escaping @Sendable () -> Set<Name> = { [] }, sessionsInAStep: Int = 100, jobsInAStep: Int = 1000
    ) async throws -> [SessionRemovalStep] {
        let hasSettled = try await read { db in
            try db.value(Transaction.settledSessions, as: String.self) != nil
        }
        guard hasSettled else { return [] }
        return try await writer.write { transaction in
            let held = held()
            let settled = try transaction.settledSessions().filter { !held.contains($0) }
            return try transaction.removeSessions(settled.prefix(sessionsInAStep), jobsInAStep: jobsInAStep)
        }
    }
}
