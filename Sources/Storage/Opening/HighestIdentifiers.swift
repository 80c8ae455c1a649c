import Downloads
import GRDB

/// The largest identifiers that a database has assigned, of each kind that clients know.
struct HighestIdentifiers: Sendable, Equatable {
    var lastEvent: EventID = 0
    /// Of jobs, parts and deliveries; nil when none was assigned.
    var lastID: String?
    /// The number of the last batch of each session.
    var batches: [String: Int64] = [:]
    /// Clients never see this number, but deliveries refer to it.
    var lastWebhook: Int64 = 0

    init() {}

    init(readFrom db: Database) throws {
        lastEvent = try Store.lastEvent(in: db)
        lastWebhook = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'webhooks'") ?? 0
        let ids = try Optional<String>.fetchAll(db, sql: Self.identifiers).compactMap { $0?.split(separator: "_").last }
        lastID = (ids.map(String.init) + [try History.read(db)?.lastID?.description].compactMap(\.self)).max()
        try note(Row.fetchAll(db, sql: "SELECT session, max(number) AS number FROM batches GROUP BY session"))
        if try db.tableExists("given_batches") { try note(Row.fetchAll(db, sql: "SELECT * FROM given_batches")) }
    }

    static let identifiers =
        "SELECT max(id) FROM jobs UNION SELECT max(id) FROM deliveries UNION SELECT max(id) FROM parts"

    private mutating func note(_ rows: [Row]) throws {
        for row in rows { batches[row["session"]] = max(batches[row["session"]] ?? 0, row["number"]) }
    }

    /// Makes another database continue above these identifiers.
    func raise(_ db: Database) throws {
        try raise("events", to: lastEvent, db)
        try raise("webhooks", to: lastWebhook, db)
        try db.execute(sql: "UPDATE history SET last_id = max(coalesce(last_id, ''), ?)", arguments: [lastID ?? ""])
        for (session, number) in batches {
            try db.execute(
                sql: """
                    INSERT INTO given_batches (session, number) VALUES (?1, ?2)
                    ON CONFLICT (session) DO UPDATE SET number = max(number, ?2)
                    """, arguments: [session, number])
        }
    }

    private func raise(_ table: String, to number: Int64, _ db: Database) throws {
        try db.execute(sql: "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", arguments: [number, table])
        guard db.changesCount == 0, number > 0 else { return }
        try db.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", arguments: [table, number])
    }
}
