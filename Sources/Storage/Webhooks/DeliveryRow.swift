import Downloads

enum DeliveryRow {
    static func delivery(_ row: SQLRow, in db: SQLConnection) throws -> Delivery {
        Delivery(
            id: DeliveryID(row["id"]), webhook: Name(trusted: row["name"]), session: Name(trusted: row["session"]),
            event: row["event"], type: try row.named("type", as: EventType.self), state: try state(row),
            attempts: try attempts(of: row["id"], in: db), blockedBy: try blocker(of: row, in: db))
    }

    /// The first pending delivery before a pending finish: only the first pending delivery of a webhook is sent if it is
    /// a finish.
    private static func blocker(of row: SQLRow, in db: SQLConnection) throws -> DeliveryID? {
        guard row["state"] == Delivery.State.Name.pending.rawValue, row["type"] == EventType.sessionFinished.rawValue
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
            Delivery.Attempt(
                at: row.time("at"), status: row["status"], error: row["error"],
                latencySeconds: row["latency_seconds"], response: row["response"])
        }
    }

    static func state(_ row: SQLRow) throws -> Delivery.State {
        switch try row.named("state", as: Delivery.State.Name.self) {
        case .pending: .pending(next: row.time("next_attempt_at"))
        case .acknowledged: .acknowledged
        case .exhausted: .exhausted
        case .cancelled: .cancelled
        }
    }
}
