import Downloads

/// The sessions, webhooks and jobs of a database, read in one snapshot, with or without a service that uses it.
public enum StoredQueue {
    public enum Item: Sendable {
        case session(Session)
        case job(Job)
        case webhook(Webhook)
    }

    package static func read(
        _ db: SQLConnection, _ sealer: Sealer, _ states: Set<JobState.Kind>, _ body: (Item) throws -> Void
    ) throws {
        for row in try db.rows("SELECT * FROM sessions WHERE is_finishing = 0 ORDER BY id") {
            try body(.session(try SessionRow.session(row, sealer)))
        }
        let names = states.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        try db.forEach(JobRow.select + "WHERE jobs.state IN (\(names)) ORDER BY jobs.id") { row in
            try body(.job(try JobRow.job(row, sealer)))
            return true
        }
        for webhook in try webhooks(db, sealer) { try body(.webhook(webhook)) }
    }

    package static func webhooks(_ db: SQLConnection, _ sealer: Sealer) throws -> [Webhook] {
        try db.map("SELECT * FROM webhooks ORDER BY key") { try WebhookRow.webhook($0, sealer) }
    }
}
