import Downloads
import GRDB

enum DeliveryRow {
    static func delivery(_ row: Row, in db: Database) throws -> Delivery {
        Delivery(
            id: DeliveryID(row["id"]), webhook: Name(trusted: row["name"]), session: Name(trusted: row["session"]),
            event: row["event"], type: try row.named("type", as: EventType.self), state: try state(row),
            attempts: try attempts(of: row["id"], in: db), blockedBy: try blocker(of: row, in: db))
    }

    /// The first pending delivery before a pending finish: only the first pending delivery of a webhook is sent if it is
    /// a finish.
    private static func blocker(of row: Row, in db: Database) throws -> DeliveryID? {
        guard row["state"] == Delivery.State.Name.pending.rawValue, row["type"] == EventType.sessionFinished.rawValue
        else { return nil }
        return try String.fetchOne(
            db.cachedStatement(sql: firstPendingBefore), arguments: [row["webhook"], row["event"]]
        ).map(DeliveryID.init)
    }

    static let firstPendingBefore = """
        SELECT id FROM deliveries WHERE webhook = ? AND state = 'pending' AND type <> 'webhook.test' AND event < ?
        ORDER BY event LIMIT 1
        """

    private static func attempts(of delivery: String, in db: Database) throws -> [Delivery.Attempt] {
        try Row.fetchAll(
            db.cachedStatement(sql: "SELECT * FROM delivery_attempts WHERE delivery = ? ORDER BY number"),
            arguments: [delivery]
        ).map { row in
            Delivery.Attempt(
                at: row.time("at"), status: row["status"], error: row["error"],
                latencySeconds: row["latency_seconds"], response: row["response"])
        }
    }

    static func state(_ row: Row) throws -> Delivery.State {
        switch try row.named("state", as: Delivery.State.Name.self) {
        case .pending: .pending(next: row.time("next_attempt_at"))
        case .acknowledged: .acknowledged
        case .exhausted: .exhausted
        case .cancelled: .cancelled
        }
    }
}
