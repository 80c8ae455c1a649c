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

/// Forgetting, in small steps. What is removed leaves its mark, so that a reader who comes too late is told so.
extension Store {
    /// Removes the events of a session that are older than is kept, oldest first, with the logs of their deliveries.
    ///
    /// - Parameters:
    ///   - after: where the step before ended.
    ///   - limit: events looked at in this step.
    /// - Returns: where the next step goes on; nil when the rest of the session's events are young enough.
    public func pruneEvents(
        of session: Name, keeping retention: Retention, after: EventID = 0, limit: Int = 500
    ) async throws -> EventID? {
        try await writer.write { transaction in
            let rows = try transaction.rows(
                "SELECT id, time FROM events WHERE session = ? AND id > ? ORDER BY id LIMIT ?",
                [session.text, after, limit])
            let old = rows.prefix { $0.time("time") < transaction.now.addingTimeInterval(-retention.acknowledged) }
            guard let last = old.last?["id"] as EventID? else { return nil }
            try transaction.prune(
                session, after: after, through: last,
                unacknowledgedBefore: transaction.now.addingTimeInterval(-retention.unacknowledged))
            return old.count == limit ? last : nil
        }
    }

    /// Every session that the journal speaks of, deleted ones too.
    public func sessionsInJournal() throws(StoreError) -> [Name] {
        try read { db in
            // From one name to the next in the index, however many events each has.
            try String.fetchAll(
                db.cachedStatement(
                    sql: """
                        WITH RECURSIVE names (name) AS (
                            SELECT min(session) FROM events
                            UNION ALL
                            SELECT (SELECT min(session) FROM events WHERE session > name) FROM names WHERE name IS NOT NULL
                        ) SELECT name FROM names WHERE name IS NOT NULL
                        """)
            ).map(Name.init(trusted:))
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

    static func requireUnpruned(_ after: EventID, _ query: EventQuery, in db: Database) throws {
        let session = try query.session?.text ?? query.job.flatMap { try self.session(of: $0, in: db) }
        let through: EventID? =
            if let session {
                try EventID.fetchOne(
                    db.cachedStatement(sql: "SELECT through FROM pruned_events WHERE session = ?"),
                    arguments: [session])
            } else {
                try EventID.fetchOne(db.cachedStatement(sql: "SELECT max(through) FROM pruned_events"))
            }
        guard let through, after < through else { return }
        throw StoreError.eventsPruned(after: after, firstAvailable: through + 1)
    }

    private static func session(of job: JobID, in db: Database) throws -> String? {
        try String.fetchOne(
            db.cachedStatement(sql: "SELECT session FROM events WHERE job = ? LIMIT 1"), arguments: [job.text])
    }
}

extension Transaction {
    /// What nobody waits for any more: acknowledged, and on no webhook's way; or too old to be waited for.
    fileprivate func prune(
        _ session: Name, after: EventID, through last: EventID, unacknowledgedBefore limit: Date
    ) throws {
        let acknowledged = try acknowledgedThrough(session)
        let removable = try rows(
            """
            SELECT id FROM events WHERE session = ? AND id > ? AND id <= ? AND (time < ? OR (id <= ? AND NOT EXISTS (
                SELECT 1 FROM deliveries WHERE event = events.id AND state = 'pending')))
            """, [session.text, after, last, limit.milliseconds, acknowledged])
        for row in removable {
            let event: EventID = row["id"]
            try run("DELETE FROM deliveries WHERE event = ?", [event])
            try run("DELETE FROM events WHERE id = ?", [event])
        }
        guard let through = removable.last?["id"] as EventID? else { return }
        try run(
            """
            INSERT INTO pruned_events (session, through) VALUES (?, ?)
            ON CONFLICT (session) DO UPDATE SET through = max(through, excluded.through)
            """, [session.text, through])
        wake(.sessions)
    }

    /// Up to here the session's events are taken: by the call, or with the batches that every webhook took.
    private func acknowledgedThrough(_ session: Name) throws -> EventID {
        guard let row = try row("SELECT acknowledged_through FROM sessions WHERE id = ?", [session.text]) else {
            // Deleted, and settled before.
            return .max
        }
        let open = try self.row(
            "SELECT min(first_event) AS id FROM batches WHERE session = ? AND state <> 'acknowledged'", [session.text])
        let taken = try self.row(
            "SELECT max(finish_event) AS id FROM batches WHERE session = ? AND state = 'acknowledged'", [session.text])
        let byWebhooks = (open?["id"] as EventID?).map { $0 - 1 } ?? taken?["id"] as EventID? ?? 0
        return max(row["acknowledged_through"], byWebhooks)
    }
}
