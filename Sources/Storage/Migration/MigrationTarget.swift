import Downloads
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
        _ table: MigratedTable, from source: MigrationSource, of node: Int64, _ transaction: inout PostgresTransaction
    ) throws -> MigrationReport.Table {
        var result = MigrationReport.Table(name: table.name, rows: 0, comparedRows: 0)
        let distance = 1 + (try source.count(table)) / Self.samples
        var batch = RowBatch()
        func send(_ transaction: inout PostgresTransaction) throws {
            try insert(batch, into: table, &transaction)
            result.comparedRows += batch.samples.count
            batch = RowBatch()
        }
        try source.forEachRow(of: table) { row in
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
        _ batch: RowBatch, into table: MigratedTable, _ transaction: inout PostgresTransaction
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
            guard let last = table.lastNumber, table.name != "events" else { return nil }
            let column = table.columns[table.key[0]].name
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
    private func prepare(_ transaction: inout PostgresTransaction, for tables: [MigratedTable]) throws {
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

    private func requireEmpty(_ transaction: inout PostgresTransaction, _ tables: [MigratedTable]) throws {
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
