import Downloads

/// A step that removed jobs of a deleted session, and possibly the session.
public struct SessionRemovalStep: Sendable, Equatable {
    public var session: Name
    /// The parts of its jobs, which are no longer promised.
    public var dropped: [PartID]
    public var isGone: Bool
}

/// Ends sessions. A deleted session accepts no more jobs, settles its jobs, finishes and deliveries, and is then
/// removed.
extension Store {
    /// Marks a session as deleted: it accepts no more jobs, and its due batch finishes at once.
    ///
    /// - Throws: `noSuchSession`; `sessionPermanent` for `default`.
    public func invalidateSession(_ id: Name, audit note: AuditNote? = nil) async throws {
        try await writer.write { transaction in
            _ = try transaction.session(id)
            guard id != .default else { throw StoreError.sessionPermanent(id) }
            try transaction.run("UPDATE sessions SET is_finishing = 1 WHERE id = ?", [id.text])
            transaction.working.sessions.forget(id)
            try transaction.expediteBatch(id)
            transaction.wake(.sessions)
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
        guard try await read({ try $0.row(Transaction.settledSessions) != nil }) else { return [] }
        return try await writer.write { transaction in
            let held = held()
            let settled = try transaction.rows(Transaction.settledSessions).map { try Name(trusted: $0["id"]) }
                .filter { !held.contains($0) }
            return try transaction.removeSessions(settled.prefix(sessionsInAStep), jobsInAStep: jobsInAStep)
        }
    }
}

extension Transaction {
    static let settledSessions = """
        SELECT id FROM sessions WHERE is_finishing = 1
            AND NOT EXISTS (SELECT 1 FROM batches WHERE session = sessions.id AND state IN ('open', 'due'))
            AND NOT EXISTS (
                SELECT 1 FROM webhooks JOIN deliveries ON deliveries.webhook = webhooks.key
                WHERE webhooks.session = sessions.id AND deliveries.state = 'pending')
        """

    /// - Parameter jobsInAStep: of all these sessions together.
    func removeSessions(_ sessions: some Sequence<Name>, jobsInAStep: Int) throws -> [SessionRemovalStep] {
        var (steps, left): ([SessionRemovalStep], Int) = ([], jobsInAStep)
        for session in sessions where left > 0 {
            let (step, count) = try removeSession(session, upTo: left)
            steps.append(step)
            left -= count
        }
        return steps
    }

    private func removeSession(_ session: Name, upTo limit: Int) throws -> (SessionRemovalStep, jobs: Int) {
        let jobs = try rows(Self.firstJobs, [session.text, limit])
        for job in jobs {
            try forget(JobID(job["id"]))
            count(removed: try JobShare(job, of: session))
        }
        if let last: String = try jobs.last?["id"] {
            try run("DELETE FROM jobs WHERE session = ? AND id <= ?", [session.text, last])
        }
        let isGone = jobs.count < limit
        if isGone { try removeEmptySession(session) } else { wake(.sessions) }
        let dropped = try jobs.compactMap { try ($0["part"] as String?).map { PartID($0) } }
        for part in dropped { try dropFile(of: part) }
        return (SessionRemovalStep(session: session, dropped: dropped, isGone: isGone), jobs.count)
    }

    private func removeEmptySession(_ session: Name) throws {
        countFinishes(
            -(try changedRows(
                "DELETE FROM batches WHERE session = ? AND state = 'finished' AND is_awaited = 1", [session.text])))
        try run("DELETE FROM batches WHERE session = ?", [session.text])
        try run("DELETE FROM sessions WHERE id = ?", [session.text])
        count(removedSession: session)
        working.currentBatches.forget(session)
        working.sessions.forget(session)
        working.subscriptions.forget(session)
    }

    static let firstJobs = """
        SELECT jobs.id, jobs.batch, jobs.state, jobs.file_size, parts.id AS part, parts.bytes_durable,
            parts.size AS part_size
        FROM jobs LEFT JOIN parts ON parts.job = jobs.id WHERE jobs.session = ? ORDER BY jobs.id LIMIT ?
        """
}

extension JobShare {
    fileprivate init(_ row: SQLRow, of session: Name) throws {
        try self.init(
            session: session, batch: row["batch"], state: try row.named("state", as: JobState.Kind.self),
            fileSize: row["file_size"], partBytes: row["bytes_durable"], partSize: row["part_size"])
    }
}
