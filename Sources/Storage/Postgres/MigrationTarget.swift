import Downloads
import Foundation
import GRDB
import PostgresClient
import Sealing

/// The PostgreSQL database that takes the rows of a `MigrationSource`.
struct MigrationTarget {
    private let connection: PostgresConnection
    private let name: String
    private let keys: [SealingKey]

    /// - Parameters:
    ///   - keys: those of the source.
    ///   - requiresDurability: see `PostgresEngine`.
    init(_ server: ServerAddress, _ keys: [SealingKey], requiresDurability: Bool) throws {
        name = server.shown
        self.keys = keys
        connection = try PostgresConnection(to: PostgresTarget(url: server.url), options: Self.options)
        if requiresDurability, let fault = try PostgresServerSettings(of: connection).fault {
            throw StoreError.serverUnsuitable(why: "\(name) cannot be used. \(fault)")
        }
    }

    private static var options: PostgresConnection.Options {
        var options = PostgresConnection.Options()
        options.applicationName = "fetchd migrate-store"
        // A count of many rows takes long, and so does reading SQLite from a busy disk.
        options.timeout = .seconds(3600)
        options.settings["idle_in_transaction_session_timeout"] = "3600000"
        return options
    }

    /// - Parameter onTable: is called with the name of each table before it is copied.
    func receive(_ source: MigrationSource, _ onTable: (String) -> Void) throws -> MigrationReport {
        try connection.transaction { transaction in
            try prepare(&transaction, for: source.tables)
            let node = try register(source.nodeID, &transaction)
            var report = MigrationReport(lastEvent: source.lastEvent)
            for table in source.tables {
                onTable(table.name)
                report.tables.append(try copy(table, from: source, of: node, &transaction))
            }
            try transaction.commit(with: numbers(source, of: node))
            return report
        }
    }

    private func copy(
        _ table: CopiedTable, from source: MigrationSource, of node: Int64, _ transaction: inout PostgresTransaction
    ) throws -> MigrationReport.Table {
        var result = MigrationReport.Table(name: table.name, rows: 0, comparedRows: 0)
        let distance = 1 + (try table.count(in: source.db)) / Self.samples
        var batch = RowBatch()
        func send(_ transaction: inout PostgresTransaction) throws {
            try insert(batch, into: table, &transaction)
            result.comparedRows += batch.samples.count
            batch = RowBatch()
        }
        try table.forEachRow(in: source.db) { row in
            var row = row
            table.assign(&row, to: node)
            batch.append(row, isSample: result.rows.isMultiple(of: distance))
            result.rows += 1
            if batch.isFull { try send(&transaction) }
        }
        try send(&transaction)
        try requireCount(result, &transaction)
        return result
    }

    /// The rows of a table that are compared, approximately.
    private static let samples = 1000

    /// Adds the rows, and compares some of them with what the server has now.
    private func insert(
        _ batch: RowBatch, into table: CopiedTable, _ transaction: inout PostgresTransaction
    ) throws {
        guard !batch.rows.isEmpty else { return }
        var statements = [table.insertion(of: batch.rows)]
        if !batch.samples.isEmpty { statements.append(table.selection(of: batch.samples)) }
        let results = try transaction.execute(statements)
        guard results.count > 1 else { return }
        let stored = Set(try results[1].map { try table.values($0) })
        guard stored == Set(batch.samples) else {
            throw StoreError.failed(why: "the table \(table.name) of \(name) has other values than were copied into it")
        }
    }

    private func requireCount(_ copied: MigrationReport.Table, _ transaction: inout PostgresTransaction) throws {
        let count = PostgresStatement("SELECT count(*) FROM \"\(copied.name)\"", isPrepared: false)
        let found = try transaction.execute(count)[0].value(0, as: Int.self)
        guard found == copied.rows else {
            throw StoreError.failed(
                why: "the table \(copied.name) of \(name) has \(found) rows after \(copied.rows) were copied into it")
        }
    }

    /// Makes PostgreSQL continue above all numbers that SQLite has given, of rows that were deleted, too. The number of
    /// commits shows a service that the rows are others.
    ///
    /// - Parameter node: has the parts and files of the service.
    private func numbers(_ source: MigrationSource, of node: Int64) -> [PostgresStatement] {
        let identities = source.tables.compactMap { table -> PostgresStatement? in
            guard let last = table.lastNumber, let column = table.numbered else { return nil }
            return PostgresStatement(
                "ALTER TABLE \"\(table.name)\" ALTER COLUMN \"\(column)\" RESTART WITH \(last + 1)", isPrepared: false)
        }
        let journal = PostgresStatement(
            "UPDATE journal SET last = $1, commits = commits + 1, writer = '', first_node = $2",
            [.int8(source.lastEvent), .int8(node)], isPrepared: false)
        return identities + [journal]
    }
}

// MARK: - The empty database

extension MigrationTarget {
    /// Makes the tables if they are missing, and removes the rows that new tables have.
    private func prepare(_ transaction: inout PostgresTransaction, for tables: [CopiedTable]) throws {
        let missing = try PostgresSchema.missing(in: &transaction, name: name)
        if !missing.isEmpty { try transaction.execute(missing) }
        try possess(&transaction)
        try requireEmpty(&transaction, tables)
        try requireKey(&transaction)
        try transaction.execute(
            (Self.firstRows.keys.sorted() + ["sessions"]).map {
                PostgresStatement("DELETE FROM \($0)", isPrepared: false)
            })
    }

    /// Until the end of the transaction, no node starts or commits. Later, a node that was stopped in the meantime notices that
    /// it is not the same any more.
    private func possess(_ transaction: inout PostgresTransaction) throws {
        let lock = PostgresStatement("SELECT 1 FROM journal FOR UPDATE", isPrepared: false)
        let search = PostgresStatement(
            "SELECT EXISTS (SELECT FROM nodes WHERE expires_at > \(PostgresNode.now))", isPrepared: false)
        guard try !transaction.execute([lock, search])[1][0].value(0, as: Bool.self) else {
            throw StoreError.databaseInUse(name: name)
        }
        try transaction.execute(
            PostgresStatement("UPDATE nodes SET epoch = epoch + 1, expires_at = NULL", isPrepared: false))
    }

    /// The service becomes a node that has stopped.
    ///
    /// - Returns: its number.
    private func register(_ id: String, _ transaction: inout PostgresTransaction) throws -> Int64 {
        let row = try transaction.execute(
            PostgresStatement(
                """
                INSERT INTO nodes (id, epoch, version, downloads, slots, started_at)
                VALUES ($1, 1, '', 'local', 0, \(PostgresNode.now))
                ON CONFLICT (id) DO UPDATE SET epoch = nodes.epoch RETURNING number
                """, [.text(id)], isPrepared: false))
        return try row[0].value(0)
    }

    private func requireEmpty(_ transaction: inout PostgresTransaction, _ tables: [CopiedTable]) throws {
        let searches = tables.map { table in
            let condition = Self.firstRows[table.name] ?? (table.name == "sessions" ? "id <> 'default'" : "true")
            return PostgresStatement(
                "SELECT EXISTS (SELECT FROM \"\(table.name)\" WHERE \(condition))", isPrepared: false)
        }
        for (table, result) in zip(tables, try transaction.execute(searches)) {
            guard try result[0].value(0, as: Bool.self) else { continue }
            throw StoreError.serverUnsuitable(
                why:
                    "\(name) has data already, in the table \(table.name). Name an empty database. Nothing was changed."
            )
        }
        let last = try transaction.execute(PostgresStatement("SELECT last FROM journal", isPrepared: false))
        guard try last[0].value(0, as: Int64.self) > 0 else { return }
        throw StoreError.serverUnsuitable(
            why: "\(name) has been in use: it has had events. Name an empty database. Nothing was changed.")
    }

    /// The tables whose rows the copied ones replace, with the condition of rows that a start does not write.
    private static let firstRows = [
        "session_counts": "session <> 'default'", "service_counts": "false", "history": "false", "sealing": "false",
        "clock": "false",
    ]

    /// A service that has started with the empty database has given it a key.
    private func requireKey(_ transaction: inout PostgresTransaction) throws {
        let check = try transaction.execute(PostgresStatement("SELECT key_check FROM sealing", isPrepared: false))
        guard let text = try check.first?.optional(0, as: String.self) else { return }
        guard keys.contains(where: KeyCheck(sealed: text).fits) else {
            throw StoreError.serverUnsuitable(
                why:
                    "\(name) has been used with another key than that of the SQLite database. Name an empty database. Nothing was changed."
            )
        }
    }
}

/// A table with its rows in SQLite, and the statements that copy them to PostgreSQL.
struct CopiedTable {
    private let table: Table
    /// The places of the columns of the primary key; empty for a table with one row.
    private let key: [Int]
    /// The largest number that the table has ever given to a row; nil if it gives none.
    let lastNumber: Int64?

    typealias Values = [DatabaseValue]

    static func all(in db: Database) throws -> [CopiedTable] {
        try Schema.tables.filter { !$0.isOfPostgres }.map { try CopiedTable($0, in: db) }
    }

    private init(_ table: Table, in db: Database) throws {
        self.table = table
        let keys = Set(table.keyColumns.map(\.name))
        key = table.columns.indices.filter { keys.contains(table.columns[$0].name) }
        lastNumber = try Int64.fetchOne(
            db, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [table.name])
    }

    var name: String { table.name }
    var columnNames: [String] { table.columns.map(\.name) }
    /// The column whose values PostgreSQL gives; nil if it gives none.
    var numbered: String? { table.columns.first { $0.kind == .serial }?.name }

    /// Makes a job that runs, or that has succeeded, one of this node: it has the part or the file.
    ///
    /// - Parameter row: of any table.
    func assign(_ row: inout Values, to node: Int64) {
        guard name == Schema.jobs.name, let place = columnNames.firstIndex(of: "node"),
            let state = columnNames.firstIndex(of: "state")
        else { return }
        guard let name = String.fromDatabaseValue(row[state]), ["running", "succeeded"].contains(name) else { return }
        row[place] = node.databaseValue
    }

    // MARK: Rows of SQLite

    func count(in db: Database) throws -> Int { try Int.fetchOne(db, sql: "SELECT count(*) FROM \"\(name)\"") ?? 0 }

    /// Reads all rows.
    ///
    /// - Parameter body: is called for each row, in an order that stays the same.
    func forEachRow(in db: Database, _ body: (Values) throws -> Void) throws {
        let rows = try Row.fetchCursor(db, sql: selection)
        while let row = try rows.next() { try body(row.databaseValues.map(\.storable)) }
    }

    // MARK: Statements for PostgreSQL

    var selection: String { "SELECT \(list(table.columns.indices)) FROM \"\(name)\"" }

    /// The statement that adds rows.
    func insertion(of rows: [Values]) -> PostgresStatement {
        PostgresStatement(
            "INSERT INTO \"\(name)\" (\(list(table.columns.indices))) SELECT * FROM unnest(\(parameters(table.columns.count)))",
            arrays(table.columns.indices, of: rows))
    }

    /// The statement that reads the rows with the keys of these rows.
    func selection(of rows: [Values]) -> PostgresStatement {
        guard !key.isEmpty else { return PostgresStatement(selection) }
        return PostgresStatement(
            "\(selection) WHERE (\(list(key))) IN (SELECT * FROM unnest(\(parameters(key.count))))",
            arrays(key, of: rows))
    }

    /// The values of a row that `selection` has returned.
    func values(_ row: PostgresRow) throws(PostgresError) -> Values {
        var values: Values = []
        for index in table.columns.indices { values.append(try value(row, index) ?? .null) }
        return values
    }

    private func value(_ row: PostgresRow, _ index: Int) throws(PostgresError) -> DatabaseValue? {
        switch table.columns[index].kind {
        case .integer, .serial, .journal: try row.optional(index, as: Int64.self)?.databaseValue
        case .real: try row.optional(index, as: Double.self)?.databaseValue
        case .text: try row.optional(index, as: String.self)?.databaseValue
        case .bytes: try row.optional(index, as: [UInt8].self).map { Data($0).databaseValue }
        }
    }

    private func arrays(_ columns: some Sequence<Int>, of rows: [Values]) -> [PostgresValue] {
        columns.map { place in
            let values = rows.map { $0[place] }
            return switch table.columns[place].kind {
            case .integer, .serial, .journal: .int8Array(values.map(Int64.fromDatabaseValue))
            case .real: .float8Array(values.map(Double.fromDatabaseValue))
            case .text: .textArray(values.map(String.fromDatabaseValue))
            case .bytes: .byteaArray(values.map { Data.fromDatabaseValue($0).map { [UInt8]($0) } })
            }
        }
    }

    private func list(_ columns: some Sequence<Int>) -> String {
        columns.map { "\"\(table.columns[$0].name)\"" }.joined(separator: ", ")
    }

    private func parameters(_ count: Int) -> String { (1...count).map { "$\($0)" }.joined(separator: ", ") }
}

extension DatabaseValue {
    /// As PostgreSQL has it.
    var storable: DatabaseValue {
        if case .string(let text) = storage { text.literal.databaseValue } else { self }
    }

    /// The memory of the value in bytes, approximately.
    fileprivate var size: Int {
        switch storage {
        case .null, .int64, .double: 8
        case .string(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        }
    }
}

/// Rows that are sent to PostgreSQL together.
struct RowBatch {
    private(set) var rows: [CopiedTable.Values] = []
    /// The rows that are read back and compared.
    private(set) var samples: [CopiedTable.Values] = []
    private var size = 0

    var isFull: Bool { rows.count >= Self.mostRows || size >= Self.mostBytes }

    mutating func append(_ row: CopiedTable.Values, isSample: Bool) {
        rows.append(row)
        if isSample { samples.append(row) }
        size += row.reduce(0) { $0 + $1.size }
    }

    private static let mostRows = 2000
    private static let mostBytes = 2 << 20
}
