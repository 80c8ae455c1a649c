import Downloads
import GRDB

/// The SQLite database of a stopped service, which is taken to PostgreSQL.
struct MigrationSource {
    let tables: [MigratedTable]
    let lastEvent: EventID
    /// See `NodeFile`.
    let nodeID: String
    private let db: Database

    /// - Parameter keyName: names where the key comes from, for errors.
    /// - Throws: `databaseUnreadable` if the next start would change the database first; `keyWrong` and `keyUnusable` if its
    ///   secrets cannot be opened with the key.
    init(_ db: SQLConnection, _ folder: DataFolder, _ key: KeyInspection, keyName: String) throws {
        self.db = db.sqlite
        guard try Schema.number(of: db.sqlite) == Schema.latest else {
            throw StoreError.databaseUnreadable(
                path: folder.database, why: "it is of an earlier version. Start and stop the service once")
        }
        guard try SealingStep.read(db) == .done else {
            throw StoreError.databaseUnreadable(
                path: folder.database, why: "its secrets are being encrypted. Start and stop the service once")
        }
        try Self.require(try key.finding(db), folder, keyName)
        tables = try MigratedTable.all(in: db.sqlite)
        lastEvent = try Store.lastEvent(in: db)
        nodeID = try NodeFile.identifier(in: folder)
    }

    private static func require(
        _ finding: DatabaseInspection.KeyFinding, _ folder: DataFolder, _ keyName: String
    ) throws(StoreError) {
        switch finding {
        case .fits, .notYetUsed: break
        case .wrong: throw .keyWrong(source: keyName, path: folder.database)
        case .unusable(let why): throw .keyUnusable(why: why)
        case .missing:
            throw .keyUnusable(
                why:
                    "The secrets in \(folder.database) are encrypted with a key, and \(keyName) is missing. Put it back, or name the key with --key-file. If the key is lost, start and stop the service once with --accept-lost-secrets: it continues without these secrets."
            )
        }
    }

    func count(_ table: MigratedTable) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM \"\(table.name)\"") ?? 0
    }

    /// Reads all rows.
    ///
    /// - Parameter body: is called for each row, in an order that stays the same.
    func forEachRow(of table: MigratedTable, _ body: ([MigratedValue]) throws -> Void) throws {
        let rows = try Row.fetchCursor(db, sql: table.selection)
        while let row = try rows.next() {
            try body(Array(row.databaseValues.map { MigratedValue($0) }))
        }
    }
}
