import Downloads

/// Prunes the journal in small steps, always the oldest events first. So the journal has no gap: a reader of all events
/// gets every event after its cursor, or `eventsPruned`. If the events of one session are never acknowledged, all later
/// events are therefore kept as well, for `Retention.unacknowledged` at most. For readers of one session, the store
/// remembers the last pruned event of each session.
extension Store {
    /// Removes the oldest events that the retention does not protect, together with their deliveries.
    ///
    /// - Parameter retention: called on the writer's thread, because the retention can change before the write begins.
    /// - Returns: whether there may be more to remove.
    public func pruneEvents(
        keeping retention: @escaping @Sendable () -> Retention, limit: Int = 500
    ) async throws -> Bool {
        try await writer.write { try $0.pruneEvents(keeping: retention(), limit: limit) }
    }

    /// Removes the oldest remembered answers that are older than `IdempotencyClaim.lifetime`.
    ///
    /// - Returns: whether there may be more to remove.
    public func pruneIdempotencyKeys(limit: Int = 500) async throws -> Bool {
        try await writer.write { try $0.pruneIdempotencyKeys(limit: limit) }
    }

    /// - Throws: `eventsPruned` when events that match the query were pruned.
    static func requireUnpruned(_ query: EventQuery, in db: SQLConnection) throws {
        guard let after = query.after else { return }
        let removed = try lastRemoved(query, in: db)
        guard after < removed else { return }
        throw StoreError.eventsPruned(after: after, firstAvailable: removed + 1)
    }

    /// The last pruned event that the query may match; 0 when no such event was pruned.
    private static func lastRemoved(_ query: EventQuery, in db: SQLConnection) throws -> EventID {
        if let job = query.job, try hasItsFirstEvent(job, in: db) { return 0 }
        if let session = try query.session?.text ?? query.job.flatMap({ try Self.session(of: $0, in: db) }) {
            return try db.value("SELECT last_event FROM removed_events WHERE session = ?", [session], as: EventID.self)
                ?? 0
        }
        if let (condition, names) = query.visible.condition(on: "session") {
            return try db.value(
                "SELECT max(last_event) FROM removed_events WHERE \(condition)", SQLArguments(names), as: EventID.self)
                ?? 0
        }
        // Identifiers are assigned in order and never reused: those below the first event were pruned.
        return try db.value("SELECT min(id) - 1 FROM events", as: EventID.self) ?? lastEvent(in: db)
    }

    /// Events are pruned oldest first: if the first event of a job still exists, so do its other events.
    private static func hasItsFirstEvent(_ job: JobID, in db: SQLConnection) throws -> Bool {
        let first = try db.value(
            "SELECT type FROM events WHERE job = ? ORDER BY id LIMIT 1", [job.text], as: String.self)
        return first == EventType.jobCreated.rawValue
    }

    private static func session(of job: JobID, in db: SQLConnection) throws -> String? {
        try db.value("SELECT session FROM jobs WHERE id = ?", [job.text], as: String.self)
            ?? db.value("SELECT session FROM events WHERE job = ? LIMIT 1", [job.text], as: String.self)
    }
}
