import Downloads
import Foundation

/// How long the journal keeps events, in seconds.
public struct Retention: Sendable, Equatable {
    /// For events that webhooks or an acknowledge request have acknowledged.
    public var acknowledged: TimeInterval
    /// For all other events, and for pending deliveries.
    public var unacknowledged: TimeInterval

    public init(acknowledged: TimeInterval = 7 * 86_400, unacknowledged: TimeInterval = 30 * 86_400) {
        self.acknowledged = acknowledged
        self.unacknowledged = max(acknowledged, unacknowledged)
    }
}

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
        try await writer.write { transaction in
            let retention = retention()
            guard transaction.allowsRemoval(ofDataKeptFor: retention.acknowledged) else { return false }
            var acknowledged: [String: EventID] = [:]
            let oldest = try transaction.rows("SELECT id, time, session FROM events ORDER BY id LIMIT ?", [limit])
            let removable = try oldest.prefix { try transaction.isRemovable($0, retention, &acknowledged) }
            for row in removable { try transaction.remove(row["id"], of: row["session"]) }
            if !removable.isEmpty {
                transaction.wake(.sessions)
                try transaction.pruneClockJumps()
            }
            return removable.count == limit
        }
    }

    /// Removes the oldest remembered answers that are older than `IdempotencyClaim.lifetime`.
    /// The result says whether there may be more to remove.
    public func pruneIdempotencyKeys(limit: Int = 500) async throws -> Bool {
        try await writer.write { transaction in
            let lifetime = IdempotencyClaim.lifetime
            guard transaction.allowsRemoval(ofDataKeptFor: lifetime) else { return false }
            try transaction.forgetInterruptedImports(before: transaction.now.addingTimeInterval(-lifetime))
            return try transaction.changedRows(
                """
                DELETE FROM idempotency_keys WHERE (caller, route, key) IN (
                    SELECT caller, route, key FROM idempotency_keys WHERE created_at <= ? ORDER BY created_at LIMIT ?)
                """, [transaction.now.addingTimeInterval(-lifetime).milliseconds, limit]) == limit
        }
    }

    /// - Throws: `eventsPruned` when events that match the query were pruned.
    static func requireUnpruned(_ query: EventQuery, in db: SQLConnection) throws {
        guard let after = query.after else { return }
        let removed = try lastRemoved(query, in: db)
        if after < removed { throw StoreError.eventsPruned(after: after, firstAvailable: removed + 1) }
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

extension Transaction {
    fileprivate func remove(_ event: EventID, of session: String) throws {
        let deliveries = try rows("DELETE FROM deliveries WHERE event = ? RETURNING state", [event])
        for delivery in deliveries {
            countDeliveries(from: try delivery.named("state", as: Delivery.State.Kind.self), to: nil)
        }
        // A pending delivery may have delayed the finish after it, and the removal of its session.
        if !deliveries.isEmpty { wake(.deliveries) }
        try run("DELETE FROM events WHERE id = ?", [event])
        try run(
            """
            INSERT INTO removed_events (session, last_event) VALUES (?1, ?2)
            ON CONFLICT (session) DO UPDATE SET last_event = ?2
            """, [session, event])
    }

    fileprivate func allowsRemoval(ofDataKeptFor lifetime: TimeInterval) -> Bool {
        confidence.allowsRemoval(ofDataKeptFor: lifetime, at: now)
    }

    /// Whether an event is acknowledged, older than `Retention.acknowledged` and without pending deliveries; or older than
    /// `Retention.unacknowledged`.
    ///
    /// - Parameter acknowledged: caches the last acknowledged event of each session in this step.
    fileprivate func isRemovable(
        _ event: SQLRow, _ retention: Retention, _ acknowledged: inout [String: EventID]
    ) throws -> Bool {
        let age = try now.timeIntervalSince(event.time("time")) - (try excessAge(of: event["id"]))
        guard age > retention.acknowledged else { return false }
        guard age <= retention.unacknowledged else { return true }
        let (id, session): (EventID, String) = try (event["id"], event["session"])
        let through = try acknowledged[session] ?? acknowledgedThrough(session)
        acknowledged[session] = through
        guard id <= through else { return false }
        return try row("SELECT 1 FROM deliveries WHERE event = ? AND state = 'pending'", [id]) == nil
    }

    /// The last event of the session that a call or its webhooks have acknowledged.
    private func acknowledgedThrough(_ session: String) throws -> EventID {
        guard let row = try row("SELECT acknowledged_through FROM sessions WHERE id = ?", [session]) else {
            // The session was removed, so its client no longer needs its events.
            return .max
        }
        let open = try db.value(Self.firstUnacknowledged, [session], as: EventID.self)
        // Without an open batch, all batches are acknowledged.
        let byWebhooks = try open.map { $0 - 1 } ?? db.value(Self.lastBatch, [session]) ?? 0
        return try max(row["acknowledged_through"], byWebhooks)
    }

    static let firstUnacknowledged =
        "SELECT min(first_event) FROM batches WHERE session = ? AND state <> 'acknowledged'"
    static let lastBatch = "SELECT finish_event FROM batches WHERE session = ? ORDER BY number DESC LIMIT 1"
}
