import Downloads

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

    init(readFrom db: SQLConnection) throws {
        lastEvent = try Store.lastEvent(in: db)
        lastWebhook = try db.value("SELECT seq FROM sqlite_sequence WHERE name = 'webhooks'", as: Int64.self) ?? 0
        let ids = try db.rows(Self.identifiers).compactMap { $0[0] as String? }.compactMap {
            $0.split(separator: "_").last
        }
        lastID = (ids.map(String.init) + [try History.read(db)?.lastID?.description].compactMap(\.self)).max()
        try note(db.rows("SELECT session, max(number) AS number FROM batches GROUP BY session"))
        if try db.hasTable("given_batches") { try note(db.rows("SELECT * FROM given_batches")) }
    }

    static let identifiers =
        "SELECT max(id) FROM jobs UNION SELECT max(id) FROM deliveries UNION SELECT max(id) FROM parts"

    private mutating func note(_ rows: [SQLRow]) throws {
        for row in rows { batches[row["session"]] = max(batches[row["session"]] ?? 0, row["number"]) }
    }

    /// Makes another database continue above these identifiers.
    func raise(_ db: SQLConnection) throws {
        try raise("events", to: lastEvent, db)
        try raise("webhooks", to: lastWebhook, db)
        try db.run("UPDATE history SET last_id = max(coalesce(last_id, ''), ?)", [lastID ?? ""])
        for (session, number) in batches {
            try db.run(
                """
                INSERT INTO given_batches (session, number) VALUES (?1, ?2)
                ON CONFLICT (session) DO UPDATE SET number = max(number, ?2)
                """, [session, number])
        }
    }

    private func raise(_ table: String, to number: Int64, _ db: SQLConnection) throws {
        let raised = try db.changedRows("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", [number, table])
        guard raised == 0, number > 0 else { return }
        try db.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table, number])
    }
}
