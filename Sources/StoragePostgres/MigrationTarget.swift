import Downloads
import Foundation
import PostgresClient
import Sealing
import Storage

/// The PostgreSQL database that takes the rows of a `MigrationSource`.
struct MigrationTarget {
    private let connection: PostgresConnection
    private let name: String
    private let keys: [SealingKey]

    /// - Parameters:
    ///   - keys: those of the source.
    ///   - requiresDurability: see `PostgresEngine`.
    init(_ url: String, _ keys: [SealingKey], requiresDurability: Bool) throws {
        let target = try PostgresTarget(url: url)
        name = "postgres://\(target)"
        self.keys = keys
        connection = try PostgresConnection(to: target, options: Self.options)
        if requiresDurability { try PostgresServerSettings.requireDurability(of: connection, name: name) }
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
    func receive(_ source: StoppedDatabase, _ onTable: (String) -> Void) throws -> MigrationReport {
        let tables = Schema.tables.filter { !$0.isOfPostgres }.map {
            CopiedTable($0, lastNumber: source.lastNumbers[$0.name])
        }
        var report = MigrationReport(lastEvent: try Store.lastEvent(in: source.db))
        let nodeID = try NodeFile.identifier(in: source.folder)
        return try connection.transaction { transaction in
            try prepare(&transaction, for: tables)
            let node = try register(nodeID, &transaction)
            for table in tables {
                onTable(table.name)
                report.tables.append(try copy(table, from: source.db, of: node, &transaction))
            }
            try transaction.commit(with: numbers(tables, after: report.lastEvent, of: node))
            return report
        }
    }

    private func copy(
        _ table: CopiedTable, from source: SQLConnection, of node: Int64, _ transaction: inout PostgresTransaction
    ) throws -> MigrationReport.Table {
        var result = MigrationReport.Table(name: table.name, rows: 0, comparedRows: 0)
        let distance = 1 + (try table.count(in: source)) / Self.samples
        var batch = RowBatch()
        func send(_ transaction: inout PostgresTransaction) throws {
            try insert(batch, into: table, &transaction)
            result.comparedRows += batch.samples.count
            batch = RowBatch()
        }
        try table.forEachRow(in: source) { row in
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
    private func insert(_ batch: RowBatch, into table: CopiedTable, _ transaction: inout PostgresTransaction) throws {
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
    private func numbers(_ tables: [CopiedTable], after last: EventID, of node: Int64) -> [PostgresStatement] {
        let identities = tables.compactMap { table -> PostgresStatement? in
            guard let last = table.lastNumber, let column = table.numbered else { return nil }
            return PostgresStatement(
                "ALTER TABLE \"\(table.name)\" ALTER COLUMN \"\(column)\" RESTART WITH \(last + 1)", isPrepared: false)
        }
        let journal = PostgresStatement(
            "UPDATE journal SET last = $1, commits = commits + 1, writer = '', first_node = $2",
            [.int8(last), .int8(node)], isPrepared: false)
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
            "SELECT EXISTS (SELECT FROM nodes WHERE expires_at > \(ServerTime.now))", isPrepared: false)
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
                VALUES ($1, 1, '', 'local', 0, \(ServerTime.now))
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

    typealias Values = [SQLScalar]

    init(_ table: Table, lastNumber: Int64?) {
        self.table = table
        let keys = Set(table.keyColumns.map(\.name))
        key = table.columns.indices.filter { keys.contains(table.columns[$0].name) }
        self.lastNumber = lastNumber
    }

    var name: String { table.name }
    var columnNames: [String] { table.columns.map(\.name) }
    /// The column whose values PostgreSQL gives; nil if it gives none.
    var numbered: String? { table.columns.first { $0.kind == .serial }?.name }

    /// Makes a job that runs, or that has succeeded, one of this node: it has the part or the file.
    ///
    /// - Parameter row: of any table.
    func assign(_ row: inout Values, to node: Int64) {
        guard name == "jobs", let place = columnNames.firstIndex(of: "node"),
            let state = columnNames.firstIndex(of: "state")
        else { return }
        if row[state] == "running".scalar || row[state] == "succeeded".scalar { row[place] = node.scalar }
    }

    // MARK: Rows of SQLite

    func count(in db: SQLConnection) throws -> Int { try db.value("SELECT count(*) FROM \"\(name)\"") ?? 0 }

    /// Reads all rows.
    ///
    /// - Parameter body: is called for each row, in an order that stays the same.
    func forEachRow(in db: SQLConnection, _ body: (Values) throws -> Void) throws {
        try db.forEach(selection) { row in
            try body(table.columns.indices.map { try row.scalar(at: $0).storable })
            return true
        }
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
        for index in table.columns.indices { values.append(try row.optional(index) ?? .null) }
        return values
    }

    private func arrays(_ columns: some Sequence<Int>, of rows: [Values]) -> [PostgresValue] {
        columns.map { place in
            let values = rows.map { $0[place] }
            return switch table.columns[place].kind {
            case .integer, .serial, .journal: .int8Array(values.map(Int64.init))
            case .real: .float8Array(values.map(Double.init))
            case .text: .textArray(values.map(String.init))
            case .bytes: .byteaArray(values.map { Data($0).map { [UInt8]($0) } })
            }
        }
    }

    private func list(_ columns: some Sequence<Int>) -> String {
        columns.map { "\"\(table.columns[$0].name)\"" }.joined(separator: ", ")
    }

    private func parameters(_ count: Int) -> String { (1...count).map { "$\($0)" }.joined(separator: ", ") }
}

extension SQLScalar {
    /// As PostgreSQL has it.
    var storable: SQLScalar {
        if case .text = self { .text(literal ?? "") } else { self }
    }

    /// The memory of the value in bytes, approximately.
    fileprivate var size: Int {
        switch self {
        case .null, .integer, .real: 8
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
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
