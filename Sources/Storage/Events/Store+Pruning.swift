import Downloads
import GRDB

/// Prunes the journal in small steps, always the oldest events first. So the journal has no gap: a reader of all events
/// gets every event after its cursor, or `eventsPruned`. If the events of one session are never acknowledged, all later
/// events are therefore kept as well, for `Retention.unacknowledged` at most. For readers of one session, the store
/// remembers the last pruned event of each session.
extension Store {
    /// Removes the oldest events that the retention does not protect, together with their deliveries.
    ///
    /// - Returns: whether there may be more to remove.
    public func pruneEvents(keeping retention: Retention, limit: Int = 500) async throws -> Bool {
        try await writer.write { try $0.pruneEvents(keeping: retention, limit: limit) }
    }

    /// Removes the oldest remembered answers that are older than `IdempotencyClaim.lifetime`.
    ///
    /// - Returns: whether there may be more to remove.
    public func pruneIdempotencyKeys(limit: Int = 500) async throws -> Bool {
        try await writer.write { try $0.pruneIdempotencyKeys(limit: limit) }
    }

    /// - Throws: `eventsPruned` when events that match the query were pruned.
    static func requireUnpruned(_ query: EventQuery, in db: Database) throws {
        guard let after = query.after else { return }
        let removed = try lastRemoved(query, in: db)
        guard after < removed else { return }
        throw StoreError.eventsPruned(after: after, firstAvailable: removed + 1)
    }

    /// The last pruned event that the query may match; 0 when no such event was pruned.
    private static func lastRemoved(_ query: EventQuery, in db: Database) throws -> EventID {
        if let job = query.job, try hasItsFirstEvent(job, in: db) { return 0 }
        if let session = try query.session?.text ?? query.job.flatMap({ try Self.session(of: $0, in: db) }) {
            return try EventID.fetchOne(
                db.cachedStatement(sql: "SELECT last_event FROM removed_events WHERE session = ?"),
                arguments: [session]) ?? 0
        }
        if let (condition, names) = query.visible.condition(on: "session") {
            return try EventID.fetchOne(
                db.cachedStatement(sql: "SELECT max(last_event) FROM removed_events WHERE \(condition)"),
                arguments: StatementArguments(names)) ?? 0
        }
        // Identifiers are assigned in order and never reused: those below the first event were pruned.
        return try EventID.fetchOne(db.cachedStatement(sql: "SELECT min(id) - 1 FROM events")) ?? lastEvent(in: db)
    }

    /// Events are pruned oldest first: if the first event of a job still exists, so do its other events.
    private static func hasItsFirstEvent(_ job: JobID, in db: Database) throws -> Bool {
        let first = try String.fetchOne(
            db.cachedStatement(sql: "SELECT type FROM events WHERE job = ? ORDER BY id LIMIT 1"), arguments: [job.text])
        return first == EventType.jobCreated.rawValue
    }

    private static func session(of job: JobID, in db: Database) throws -> String? {
        try String.fetchOne(
            db.cachedStatement(sql: "SELECT session FROM jobs WHERE id = ?"), arguments: [job.text])
            ?? String.fetchOne(
                db.cachedStatement(sql: "SELECT session FROM events WHERE job = ? LIMIT 1"), arguments: [job.text])
    }
}
