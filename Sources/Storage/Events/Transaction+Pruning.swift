import Downloads
import Foundation

extension Transaction {
    func pruneEvents(keeping retention: Retention, limit: Int) throws -> Bool {
        guard allowsRemoval(ofDataKeptFor: retention.acknowledged) else { return false }
        var acknowledged: [String: EventID] = [:]
        let removable = try oldestEvents(limit).prefix { try isRemovable($0, retention, &acknowledged) }
        for row in removable {
            let event: EventID = row["id"]
            let deliveries = try rows("DELETE FROM deliveries WHERE event = ? RETURNING state", [event])
            for delivery in deliveries {
                countDeliveries(from: try delivery.named("state", as: Delivery.State.Name.self), to: nil)
            }
            // A pending delivery may have delayed the finish after it, and the removal of its session.
            if !deliveries.isEmpty { wake(.deliveries) }
            try run("DELETE FROM events WHERE id = ?", [event])
            try remember(removed: event, of: row["session"])
        }
        if !removable.isEmpty {
            wake(.sessions)
            try pruneClockJumps()
        }
        return removable.count == limit
    }

    func pruneIdempotencyKeys(limit: Int) throws -> Bool {
        guard allowsRemoval(ofDataKeptFor: IdempotencyClaim.lifetime) else { return false }
        return try changedRows(
            """
            DELETE FROM idempotency_keys WHERE (caller, route, key) IN (
                SELECT caller, route, key FROM idempotency_keys WHERE created_at <= ? ORDER BY created_at LIMIT ?)
            """, [now.addingTimeInterval(-IdempotencyClaim.lifetime).milliseconds, limit]) == limit
    }

    private func allowsRemoval(ofDataKeptFor lifetime: TimeInterval) -> Bool {
        confidence.allowsRemoval(ofDataKeptFor: lifetime, at: now)
    }

    private func oldestEvents(_ limit: Int) throws -> [SQLRow] {
        try rows("SELECT id, time, session FROM events ORDER BY id LIMIT ?", [limit])
    }

    private func remember(removed event: EventID, of session: String) throws {
        try run(
            """
            INSERT INTO removed_events (session, last_event) VALUES (?1, ?2)
            ON CONFLICT (session) DO UPDATE SET last_event = ?2
            """, [session, event])
    }

    /// Whether an event is acknowledged, older than `Retention.acknowledged` and without pending deliveries; or older than
    /// `Retention.unacknowledged`.
    ///
    /// - Parameter acknowledged: caches the last acknowledged event of each session in this step.
    private func isRemovable(
        _ event: SQLRow, _ retention: Retention, _ acknowledged: inout [String: EventID]
    ) throws -> Bool {
        let age = now.timeIntervalSince(event.time("time")) - (try excessAge(of: event["id"]))
        guard age > retention.acknowledged else { return false }
        guard age <= retention.unacknowledged else { return true }
        let (id, session): (EventID, String) = (event["id"], event["session"])
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
        return max(row["acknowledged_through"], try acknowledgedByWebhooks(session))
    }

    private func acknowledgedByWebhooks(_ session: String) throws -> EventID {
        if let open: EventID = try row(Self.firstUnacknowledged, [session])?["id"] { return open - 1 }
        // All batches are acknowledged.
        return try row(Self.lastBatch, [session])?["id"] ?? 0
    }

    static let firstUnacknowledged =
        "SELECT min(first_event) AS id FROM batches WHERE session = ? AND state <> 'acknowledged'"
    static let lastBatch = "SELECT finish_event AS id FROM batches WHERE session = ? ORDER BY number DESC LIMIT 1"
}
