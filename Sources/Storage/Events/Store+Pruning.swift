import Downloads
import Foundation
import GRDB

/// How long the journal remembers, in seconds.
public struct Retention: Sendable, Equatable {
    /// Events whose batch was acknowledged, by its webhooks or by the call.
    public var acknowledged: TimeInterval
    /// All others, and deliveries that are pending still.
    public var unacknowledged: TimeInterval

    public init(acknowledged: TimeInterval = 7 * 86_400, unacknowledged: TimeInterval = 30 * 86_400) {
        self.acknowledged = acknowledged
        self.unacknowledged = max(acknowledged, unacknowledged)
    }
}

/// Forgetting, in small steps and only from the front: behind the first event that is still there none is missing, so
/// a reader either gets everything after its cursor or is told that it comes too late. The price is that one session
/// that nobody acknowledges keeps what came after it, for the longer time at most.
extension Store {
    /// Removes the oldest events that need not be kept, with the logs of their deliveries.
    ///
    /// - Returns: whether there may be more to remove.
    public func pruneEvents(keeping retention: Retention, limit: Int = 500) async throws -> Bool {
        try await writer.write { transaction in
            let removable = try transaction.oldestEvents(limit).prefix { try transaction.isRemovable($0, retention) }
            for row in removable {
                let event: EventID = row["id"]
                try transaction.run("DELETE FROM deliveries WHERE event = ?", [event])
                try transaction.run("DELETE FROM events WHERE id = ?", [event])
            }
            if !removable.isEmpty { transaction.wake(.sessions) }
            return removable.count == limit
        }
    }

    /// Forgets first answers that have outlived their day.
    public func pruneIdempotencyKeys() async throws {
        try await writer.write { transaction in
            try transaction.run(
                "DELETE FROM idempotency_keys WHERE created_at <= ?",
                [transaction.now.addingTimeInterval(-IdempotencyClaim.lifetime).milliseconds])
        }
    }

    static func requireUnpruned(_ after: EventID, in db: Database) throws {
        // Numbers are given in order and never again: what is missing at the front was removed.
        let first = try EventID.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT coalesce(
                        (SELECT min(id) FROM events),
                        (SELECT seq + 1 FROM sqlite_sequence WHERE name = 'events'), 1)
                    """))
        guard let first, after < first - 1 else { return }
        throw StoreError.eventsPruned(after: after, firstAvailable: first)
    }
}

extension Transaction {
    fileprivate func oldestEvents(_ limit: Int) throws -> [Row] {
        try rows("SELECT id, time, session FROM events ORDER BY id LIMIT ?", [limit])
    }

    /// Old, acknowledged, and on no webhook's way; or too old to be waited for.
    fileprivate func isRemovable(_ event: Row, _ retention: Retention) throws -> Bool {
        let age = now.timeIntervalSince(event.time("time"))
        guard age > retention.acknowledged else { return false }
        guard age <= retention.unacknowledged else { return true }
        let id: EventID = event["id"]
        guard try id <= acknowledgedThrough(event["session"]) else { return false }
        return try row("SELECT 1 FROM deliveries WHERE event = ? AND state = 'pending'", [id]) == nil
    }

    /// Up to here the session's events are taken: by the call, or with the batches that every webhook took.
    private func acknowledgedThrough(_ session: String) throws -> EventID {
        guard let row = try row("SELECT acknowledged_through FROM sessions WHERE id = ?", [session]) else {
            // Deleted: whoever did that wants nothing more of it.
            return .max
        }
        let open = try self.row(
            "SELECT min(first_event) AS id FROM batches WHERE session = ? AND state <> 'acknowledged'", [session])
        let taken = try self.row(
            "SELECT max(finish_event) AS id FROM batches WHERE session = ? AND state = 'acknowledged'", [session])
        let byWebhooks = (open?["id"] as EventID?).map { $0 - 1 } ?? taken?["id"] as EventID? ?? 0
        return max(row["acknowledged_through"], byWebhooks)
    }
}
