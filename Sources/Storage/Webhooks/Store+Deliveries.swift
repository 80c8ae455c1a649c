import Downloads
import Foundation
import GRDB

/// A delivery that is to be attempted now, with all that it takes.
public struct DueDelivery: Sendable {
    public var id: DeliveryID
    public var webhook: Webhook
    public var event: Event
    /// Attempts had so far.
    public var attempts: Int
}

/// What became of an attempt.
public enum DeliveryVerdict: Sendable, Equatable {
    /// 2xx.
    case acknowledged
    case again(at: Date)
    /// The schedule is used up.
    case exhausted
    /// The endpoint wants no more, ever: 410.
    case disable(reason: String)
}

/// The outbox: what is to be sent, and the log of what was.
///
/// A batch's finish is held back until every earlier event that the webhook wants is acknowledged or given up: the
/// consumer that sees it has seen everything of the batch.
extension Store {
    private static let isDue = """
        deliveries.state = 'pending' AND (deliveries.type <> 'session.finished' OR NOT EXISTS (
            SELECT 1 FROM deliveries AS earlier
            WHERE earlier.webhook = deliveries.webhook AND earlier.state = 'pending'
                AND earlier.event < deliveries.event))
        """

    /// The webhooks that have something to be sent now, and when the next one will: each is served by itself, so that
    /// none holds up another.
    public func webhooksDue() throws(StoreError) -> (keys: [Int64], next: Date?) {
        let now = time.now.milliseconds
        return try read { db in
            let keys = try Int64.fetchAll(
                db.cachedStatement(
                    sql: "SELECT DISTINCT webhook FROM deliveries WHERE \(Self.isDue) AND next_attempt_at <= ?"),
                arguments: [now])
            let next = try Int64.fetchOne(
                db.cachedStatement(
                    sql: "SELECT min(next_attempt_at) FROM deliveries WHERE \(Self.isDue) AND next_attempt_at > ?"),
                arguments: [now])
            return (keys, next.map(Date.init(milliseconds:)))
        }
    }

    /// What one webhook is to be sent now, in the order of events.
    public func dueDeliveries(to webhook: Int64, limit: Int) throws(StoreError) -> [DueDelivery] {
        let now = time.now.milliseconds
        return try read { db in
            guard
                let row = try Row.fetchOne(
                    db.cachedStatement(sql: "SELECT * FROM webhooks WHERE key = ?"), arguments: [webhook])
            else { return [] }
            let webhook = try WebhookRow.webhook(row)
            return try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT deliveries.id AS delivery, events.*,
                            (SELECT count(*) FROM delivery_attempts WHERE delivery = deliveries.id) AS attempts
                        FROM deliveries JOIN events ON events.id = deliveries.event
                        WHERE \(Self.isDue) AND webhook = ? AND next_attempt_at <= ? ORDER BY event LIMIT ?
                        """), arguments: [webhook.key, now, limit]
            ).map { row in
                DueDelivery(
                    id: DeliveryID(row["delivery"]), webhook: webhook, event: try EventRow.event(row),
                    attempts: row["attempts"])
            }
        }
    }

    /// Writes down an attempt and what follows from it.
    public func record(
        _ attempt: Delivery.Attempt, of delivery: DeliveryID, _ verdict: DeliveryVerdict
    ) async throws {
        try await writer.write { try $0.record(attempt, of: delivery, verdict) }
    }

    /// A webhook's deliveries, newest event first, from a cursor on.
    ///
    /// - Parameter before: the last event of the page before.
    public func deliveries(of webhook: Webhook, limit: Int, before: EventID? = nil) throws(StoreError) -> (
        deliveries: [Delivery], next: EventID?
    ) {
        let found = try read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: "SELECT * FROM deliveries WHERE webhook = ? AND event < ? ORDER BY event DESC LIMIT ?"),
                arguments: [webhook.key, before ?? .max, limit + 1]
            ).map { try DeliveryRow.delivery($0, attempts: DeliveryRow.attempts(of: $0["id"], in: db)) }
        }
        let page = Array(found.prefix(limit))
        return (page, found.count > page.count ? page.last?.event : nil)
    }
}

extension Transaction {
    fileprivate func record(_ attempt: Delivery.Attempt, of id: DeliveryID, _ verdict: DeliveryVerdict) throws {
        // Cancelled under way, by deleting the webhook: the attempt is still worth a line in the log.
        guard let delivery = try row("SELECT * FROM deliveries WHERE id = ?", [id.text]) else { return }
        try log(attempt, of: id)
        switch verdict {
        case .acknowledged: try acknowledge(id, event: delivery["event"], webhook: delivery["webhook"])
        case .again(let date):
            try run(
                "UPDATE deliveries SET next_attempt_at = ? WHERE id = ? AND state = 'pending'",
                [date.milliseconds, id.text])
        case .exhausted:
            try run(
                "UPDATE deliveries SET state = 'exhausted', next_attempt_at = NULL WHERE id = ? AND state = 'pending'",
                [id.text])
        case .disable(let reason):
            try run(
                "UPDATE webhooks SET state = 'disabled', disabled_reason = ? WHERE key = ?",
                [reason, delivery["webhook"] as Int64])
            try cancelPending(of: delivery["webhook"])
        }
        wake(.deliveries)
    }

    private func log(_ attempt: Delivery.Attempt, of id: DeliveryID) throws {
        try run(
            """
            INSERT INTO delivery_attempts (delivery, number, at, status, error, latency_seconds, response)
            SELECT ?, count(*) + 1, ?, ?, ?, ?, ? FROM delivery_attempts WHERE delivery = ?
            """,
            [
                id.text, attempt.at.milliseconds, attempt.status, attempt.error, attempt.latencySeconds,
                attempt.response, id.text,
            ])
    }

    private func acknowledge(_ id: DeliveryID, event: EventID, webhook: Int64) throws {
        try run(
            "UPDATE deliveries SET state = 'acknowledged', next_attempt_at = NULL WHERE id = ?", [id.text])
        // The endpoint is there again: what waits for its next try need not wait any longer.
        try run(
            """
            UPDATE deliveries SET next_attempt_at = ? WHERE webhook = ? AND state = 'pending' AND next_attempt_at > ?
            """, [now.milliseconds, webhook, now.milliseconds])
        try acknowledgeFinish(event)
    }
}
