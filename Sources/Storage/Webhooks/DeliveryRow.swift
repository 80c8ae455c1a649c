import Downloads
import GRDB

enum DeliveryRow {
    static func delivery(_ row: Row, attempts: [Delivery.Attempt]) throws -> Delivery {
        Delivery(
            id: DeliveryID(row["id"]), webhook: Name(trusted: row["name"]), session: Name(trusted: row["session"]),
            event: row["event"], type: try row.named("type", as: EventType.self), state: try state(row),
            attempts: attempts)
    }

    static func attempts(of delivery: String, in db: Database) throws -> [Delivery.Attempt] {
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
