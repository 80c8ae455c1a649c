import Downloads
import Sealing

/// The sessions, webhooks and jobs of a database, read in one snapshot, with or without a service that uses it.
public enum StoredQueue {
    public enum Item: Sendable {
        case session(Session)
        case job(Job)
        case webhook(Webhook)
    }

    /// - Parameters:
    ///   - key: where the key of the service comes from. Without it, values lack their secrets, and `lost` lists them.
    ///   - states: the jobs to read.
    ///   - body: is called for the sessions, then for the jobs in the order of their creation, then for the webhooks.
    /// - Throws: as `DatabaseInspection.read`; `databaseUnreadable` if the next start upgrades the database.
    public static func read(
        inDataFolder folder: String, key: KeySource, states: Set<JobState.Name>, _ body: (Item) throws -> Void
    ) throws(StoreError) {
        let files = DataFiles(path: folder)
        try files.read { db in
            guard try Schema.number(of: db.sqlite) == Schema.latest else {
                throw StoreError.databaseUnreadable(
                    path: files.database, why: "it is of an earlier version. Start the service once")
            }
            try read(db, Sealer(keys: KeyInspection(key, folder).ring), states, body)
        }
    }

    private static func read(
        _ db: SQLConnection, _ sealer: Sealer, _ states: Set<JobState.Name>, _ body: (Item) throws -> Void
    ) throws {
        for row in try db.rows("SELECT * FROM sessions WHERE is_finishing = 0 ORDER BY id") {
            try body(.session(try SessionRow.session(row, sealer)))
        }
        let names = states.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        try db.forEach(JobRow.select + "WHERE jobs.state IN (\(names)) ORDER BY jobs.id") { row in
            try body(.job(try JobRow.job(row, sealer)))
            return true
        }
        for row in try db.rows("SELECT * FROM webhooks ORDER BY key") {
            try body(.webhook(try WebhookRow.webhook(row, sealer)))
        }
    }
}
