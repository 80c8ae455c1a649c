import Downloads
import Foundation
import GRDB

/// A delivery that is to be attempted now, with all that it takes.
public struct DueDelivery: Sendable {
    public var id: DeliveryID
    public var webhook: Webhook
    public var event: Event
    /// Attempts had since it was put on its way, or asked for again.
    public var tries: Int
}

/// What an endpoint's answer means.
public enum DeliveryVerdict: Sendable, Equatable {
    /// 2xx.
    case accepted
    /// Anything else, or nothing; nil: the schedule has no further try.
    case rejected(retryAt: Date?)
    /// 410: the endpoint wants no more, ever.
    case gone
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
                AND earlier.event < deliveries.event AND earlier.type <> 'webhook.test'))
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
                        SELECT deliveries.id AS delivery, deliveries.tries, events.* FROM deliveries JOIN events ON events.id = deliveries.event
                        WHERE \(Self.isDue) AND webhook = ? AND next_attempt_at <= ? ORDER BY event LIMIT ?
                        """), arguments: [webhook.key, now, limit]
            ).map { row in
                DueDelivery(
                    id: DeliveryID(row["delivery"]), webhook: webhook, event: try EventRow.event(row),
                    tries: row["tries"])
            }
        }
    }

    /// Writes down an attempt and what follows from it.
    public func record(
        _ attempt: Delivery.Attempt, of delivery: DueDelivery, _ verdict: DeliveryVerdict
    ) async throws {
        try await writer.write { try $0.record(attempt, of: delivery, verdict) }
    }

    /// A webhook's deliveries, newest event first, from a cursor on.
    ///
    /// - Parameters:
    ///   - state: only those in it.
    ///   - before: the last event of the page before.
    public func deliveries(
        of webhook: Webhook, state: Delivery.State.Name? = nil, limit: Int, before: EventID? = nil
    ) throws(StoreError) -> (deliveries: [Delivery], next: EventID?) {
        let found = try read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT * FROM deliveries WHERE webhook = ? AND event < ? AND state = coalesce(?, state)
                        ORDER BY event DESC LIMIT ?
                        """),
                arguments: [webhook.key, before ?? .max, state?.rawValue, limit + 1]
            ).map { try DeliveryRow.delivery($0, attempts: DeliveryRow.attempts(of: $0["id"], in: db)) }
        }
        let page = Array(found.prefix(limit))
        return (page, found.count > page.count ? page.last?.event : nil)
    }

    /// - Throws: `noSuchDelivery`.
    public func delivery(_ id: DeliveryID) throws(StoreError) -> Delivery {
        let delivery = try read { db in
            try Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM deliveries WHERE id = ?"), arguments: [id.text])
                .map { try DeliveryRow.delivery($0, attempts: DeliveryRow.attempts(of: id.text, in: db)) }
        }
        guard let delivery else { throw .noSuchDelivery(id) }
        return delivery
    }
}
