import Downloads
import Foundation
import GRDB

extension Transaction {
    func allowsRemoval(ofDataKeptFor lifetime: TimeInterval) -> Bool {
        confidence.allowsRemoval(ofDataKeptFor: lifetime, at: now)
    }

    func oldestEvents(_ limit: Int) throws -> [Row] {
        try rows("SELECT id, time, session FROM events ORDER BY id LIMIT ?", [limit])
    }

    func remember(removed event: EventID, of session: String) throws {
        try run(
            """
            INSERT INTO removed_events (session, last_event) VALUES (?1, ?2)
            ON CONFLICT (session) DO UPDATE SET last_event = ?2
            """, [session, event])
    }

    /// Old, acknowledged, and on no webhook's way; or too old to be waited for.
    ///
    /// - Parameter taken: of the sessions that were looked at in this step, up to where their events are taken.
    func isRemovable(
        _ event: Row, _ retention: Retention, _ taken: inout [String: EventID]
    ) throws -> Bool {
        let age = now.timeIntervalSince(event.time("time")) - (try excessAge(of: event["id"]))
        guard age > retention.acknowledged else { return false }
        guard age <= retention.unacknowledged else { return true }
        let (id, session): (EventID, String) = (event["id"], event["session"])
        let through = try taken[session] ?? acknowledgedThrough(session)
        taken[session] = through
        guard id <= through else { return false }
        return try row("SELECT 1 FROM deliveries WHERE event = ? AND state = 'pending'", [id]) == nil
    }

    /// Up to here the session's events are taken: by the call, or with the batches that every webhook took.
    private func acknowledgedThrough(_ session: String) throws -> EventID {
        guard let row = try row("SELECT acknowledged_through FROM sessions WHERE id = ?", [session]) else {
            // Deleted: whoever did that wants nothing more of it.
            return .max
        }
        return max(row["acknowledged_through"], try acknowledgedByWebhooks(session))
    }

    private func acknowledgedByWebhooks(_ session: String) throws -> EventID {
        if let open: EventID = try row(Self.firstUnacknowledged, [session])?["id"] { return open - 1 }
        // All batches are acknowledged, and so is the last.
        return try row(Self.lastBatch, [session])?["id"] ?? 0
    }

    static let firstUnacknowledged =
        "SELECT min(first_event) AS id FROM batches WHERE session = ? AND state <> 'acknowledged'"
    static let lastBatch = "SELECT finish_event AS id FROM batches WHERE session = ? ORDER BY number DESC LIMIT 1"
}
