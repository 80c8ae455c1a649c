import Base
import Downloads
import Formats
import Foundation
import HTTPSemantics

public struct DueDelivery: Sendable {
    public var id: DeliveryID
    public var webhook: Webhook
    public var event: Event
    /// Attempts since the delivery was created or last requested.
    public var tries: Int
    /// How often the delivery had been requested when this was read, including the first time.
    public var requests: Int
    /// The keys of the service, if the webhook wants their signatures.
    public var signingKeys: [SigningKey] = []
    /// The trace of the event's job, or of the newest job of its session; nil if that job has none, or was deleted.
    public var trace: TraceContext?
}

/// The outbox: pending deliveries, and the log of attempts.
///
/// `session.finished` is held back until every earlier event for the webhook is acknowledged or given up. So a consumer
/// that receives it has received all events of the batch.
extension Store {
    /// The webhooks that have a delivery due now, and the time of the next one. Each webhook has its own worker, so
    /// that a slow endpoint does not delay others.
    ///
    /// Of several nodes, each gets the webhooks that it has a lease of. This node takes leases that no node has, some at a
    /// time, so that other nodes get some, too. A node without a lease of its own gets none, because other nodes may post.
    public func webhooksDue() async throws -> (keys: [Int64], next: Date?) {
        guard holdsLease else { return ([], time.now.addingTimeInterval(Self.leaderCheckInterval)) }
        let (due, next) = try await busyWebhooks()
        let unleased = due.filter { !$0.isLeased }.map(\.key)
        guard !unleased.isEmpty else { return (due.map(\.key), next) }
        let wanted = unleased.prefix(Self.leasesAtOnce)
        let own = try await writer.write { try $0.leaseWebhooks(wanted) }
        return (
            due.filter { $0.isLeased || own.contains($0.key) }.map(\.key),
            wanted.count < unleased.count ? time.now : next
        )
    }

    private static let leasesAtOnce = 100

    /// - Returns: the webhooks with a due delivery, except those that another node has a lease of.
    private func busyWebhooks() async throws -> (due: [(key: Int64, isLeased: Bool)], next: Date?) {
        let now = time.now.milliseconds
        return try await read { [node] db in
            var due: [(Int64, Bool)] = []
            var next: Int64?
            let busy = try node.map { try db.rows(Self.busyWebhooksOfNode, [now, $0.number]) }
            for webhook in try busy ?? db.rows(Self.busyWebhooks, [now]) {
                let times: [Int64] = try ["due", "later", "finish"].compactMap { try webhook[$0] }
                if times.contains(where: { $0 <= now }) { try due.append((webhook["key"], webhook["is_leased"])) }
                next = (times.filter { $0 > now } + [next].compactMap(\.self)).min()
            }
            return (due, next.map(Date.init(milliseconds:)))
        }
    }

    /// For each webhook with pending deliveries: a due time that has been reached, the next due time that has not, and
    /// the due time of a finish that is not held back. It takes a few steps in an index for each webhook, for any
    /// number of deliveries.
    static let busyWebhooks = busyWebhooks("1 AS is_leased", of: "busy WHERE key IS NOT NULL")

    private static let busyWebhooksOfNode = busyWebhooks(
        "CASE WHEN node IS NULL THEN 0 ELSE 1 END AS is_leased",
        of: """
            busy LEFT JOIN webhook_leases ON webhook = key
            WHERE key IS NOT NULL AND (node IS NULL OR node = ?2)
            """)

    private static func busyWebhooks(_ isLeased: String, of busy: String) -> String {
        """
        WITH RECURSIVE busy (key) AS (
            SELECT min(webhook) FROM deliveries WHERE state = 'pending'
            UNION ALL
            SELECT (SELECT min(webhook) FROM deliveries WHERE state = 'pending' AND webhook > busy.key)
            FROM busy WHERE busy.key IS NOT NULL
        )
        SELECT key, \(isLeased),
            (SELECT min(next_attempt_at) FROM deliveries WHERE webhook = key AND state = 'pending'
                AND type <> 'session.finished' AND next_attempt_at <= ?1) AS due,
            (SELECT min(next_attempt_at) FROM deliveries WHERE webhook = key AND state = 'pending'
                AND type <> 'session.finished' AND next_attempt_at > ?1) AS later,
            (SELECT CASE WHEN type = 'session.finished' THEN next_attempt_at END FROM deliveries
                WHERE webhook = key AND state = 'pending' AND type <> 'webhook.test'
                ORDER BY event LIMIT 1) AS finish
        FROM \(busy)
        """
    }

    /// The deliveries to attempt now for one webhook, in the order of their due times, and then of their events; none if
    /// another node has the lease of the webhook, or can have it by now.
    public func dueDeliveries(to webhook: Int64, limit: Int) async throws(StoreError) -> [DueDelivery] {
        guard holdsLease else { return [] }
        let now = time.now.milliseconds
        return try await read { [sealer, node] db in
            let isLeased = "AND EXISTS (SELECT 1 FROM webhook_leases WHERE webhook = ?1 AND node = ?2)"
            let row = try db.row(
                "SELECT * FROM webhooks WHERE key = ?1 \(node == nil ? "" : isLeased)",
                node.map { [webhook, $0.number] } ?? [webhook])
            guard let webhook = try row.map({ try WebhookRow.webhook($0, sealer) }) else { return [] }
            guard webhook.lost.isEmpty else { return [] }
            let keys = try webhook.signatures.contains(.v1a) ? self.signingKeys(in: db, sealer) : []
            // The finish is the first pending delivery, so it is not held back.
            let finish = try db.rows(Self.finishDue, [webhook.key, now])
            let others = try db.rows(Self.othersDue, [webhook.key, now, limit])
            return try (finish + others).prefix(limit).map { row in
                try DueDelivery(
                    id: DeliveryID(row["delivery"]), webhook: webhook, event: try EventRow.event(row),
                    tries: row["tries"], requests: row["requests"], signingKeys: keys,
                    trace: (row["trace"] as String?).flatMap { TraceContext(stored: $0) })
            }
        }
    }

    private static let traceOfSession =
        "(SELECT trace FROM jobs WHERE session = events.session ORDER BY id DESC LIMIT 1)"

    static let finishDue = """
        SELECT first.delivery, first.tries, first.requests, \(traceOfSession) AS trace, events.* FROM (
            SELECT id AS delivery, event, type, tries, requests, next_attempt_at FROM deliveries
            WHERE webhook = ? AND state = 'pending' AND type <> 'webhook.test' ORDER BY event LIMIT 1
        ) AS first CROSS JOIN events ON events.id = first.event
        WHERE first.type = 'session.finished' AND first.next_attempt_at <= ?
        """

    static let othersDue = """
        SELECT deliveries.id AS delivery, deliveries.tries, deliveries.requests,
            CASE WHEN events.job IS NULL THEN \(traceOfSession)
                ELSE (SELECT trace FROM jobs WHERE id = events.job) END AS trace, events.*
        FROM deliveries CROSS JOIN events ON events.id = deliveries.event
        WHERE deliveries.webhook = ? AND deliveries.state = 'pending' AND deliveries.type <> 'session.finished'
            AND deliveries.next_attempt_at <= ?
        ORDER BY deliveries.next_attempt_at, deliveries.event LIMIT ?
        """

    public func record(
        _ attempt: Delivery.Attempt, of delivery: DueDelivery, _ verdict: DeliveryOutcome, mayBeStored: Bool = false
    ) async throws {
        try await writer.write { try $0.record(attempt, of: delivery, verdict, mayBeStored: mayBeStored) }
    }

    /// The deliveries of a webhook, newest event first, after a cursor.
    public func deliveries(
        of webhook: Webhook, state: Delivery.State.Kind? = nil, limit: Int, before: EventID? = nil
    ) async throws(StoreError) -> (deliveries: [Delivery], next: EventID?) {
        let found = try await read { db in
            try db.rows(Self.page(of: state), [webhook.key, before ?? .max, limit + 1])
                .map { try DeliveryRow.delivery($0, in: db) }
        }
        let page = Array(found.prefix(limit))
        return (page, found.count > page.count ? page.last?.event : nil)
    }

    /// Each state has an index in the order of the events. The condition names that of the partial index.
    static func page(of state: Delivery.State.Kind?) -> String {
        let condition =
            state.map { "AND state = '\($0.rawValue)' \($0 == .pending ? "" : "AND state <> 'pending' ")" } ?? ""
        return "SELECT * FROM deliveries WHERE webhook = ? AND event < ? \(condition)ORDER BY event DESC LIMIT ?"
    }

    /// - Throws: `noSuchDelivery`.
    public func delivery(_ id: DeliveryID) async throws(StoreError) -> Delivery {
        let delivery = try await read { db in
            try db.row("SELECT * FROM deliveries WHERE id = ?", [id.text]).map { try DeliveryRow.delivery($0, in: db) }
        }
        guard let delivery else { throw .noSuchDelivery(id) }
        return delivery
    }

    /// The body of the requests of a delivery, in the present format of its webhook; nil if the event was pruned.
    public func posted(_ delivery: Delivery) async throws(StoreError) -> JSON? {
        try await read { db in
            let event = try db.row("SELECT * FROM events WHERE id = ?", [delivery.event]).map(EventRow.event)
            let format = try db.value(
                "SELECT format FROM webhooks JOIN deliveries ON deliveries.webhook = key WHERE id = ?",
                [delivery.id.text], as: String.self)
            return event?.posted(as: format.flatMap(WebhookFormat.init) ?? .standard, of: delivery.id)
        }
    }
}

enum DeliveryRow {
    static func delivery(_ row: SQLRow, in db: SQLConnection) throws -> Delivery {
        try Delivery(
            id: DeliveryID(row["id"]), webhook: Name(trusted: row["name"]), session: Name(trusted: row["session"]),
            event: row["event"], type: try row.named("type", as: EventType.self), state: try state(row),
            attempts: try attempts(of: row["id"], in: db), blockedBy: try blocker(of: row, in: db))
    }

    /// The first pending delivery before a pending finish: only the first pending delivery of a webhook is sent if it is
    /// a finish.
    private static func blocker(of row: SQLRow, in db: SQLConnection) throws -> DeliveryID? {
        guard try row["state"] == Delivery.State.Kind.pending.rawValue,
            try row["type"] == EventType.sessionFinished.rawValue
        else { return nil }
        return try db.value(firstPendingBefore, [row["webhook"] as Int64, row["event"] as EventID], as: String.self)
            .map(DeliveryID.init)
    }

    static let firstPendingBefore = """
        SELECT id FROM deliveries WHERE webhook = ? AND state = 'pending' AND type <> 'webhook.test' AND event < ?
        ORDER BY event LIMIT 1
        """

    private static func attempts(of delivery: String, in db: SQLConnection) throws -> [Delivery.Attempt] {
        try db.rows("SELECT * FROM delivery_attempts WHERE delivery = ? ORDER BY number", [delivery]).map { row in
            try Delivery.Attempt(
                at: row.time("at"), status: row["status"], error: row["error"],
                latencySeconds: row["latency_seconds"], response: row["response"],
                exchange: (row["exchange"] as String?).map { try RowCoding.value(Delivery.Exchange.self, from: $0) })
        }
    }

    static func state(_ row: SQLRow) throws -> Delivery.State {
        switch try row.named("state", as: Delivery.State.Kind.self) {
        case .pending: try .pending(next: row.time("next_attempt_at"))
        case .acknowledged: .acknowledged
        case .exhausted: .exhausted
        case .cancelled: .cancelled
        }
    }
}
