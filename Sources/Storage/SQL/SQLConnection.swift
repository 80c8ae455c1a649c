import GRDB

/// A connection to the database of the store, inside a transaction or a snapshot.
///
/// All statements above it are written once, in a dialect that the engines share: `?`, `?1` or `:name` for values, 0 and 1
/// for booleans, milliseconds for times. Each connection prepares a text once.
struct SQLConnection {
    let sqlite: Database

    init(_ sqlite: Database) { self.sqlite = sqlite }

    /// Changes rows.
    func run(_ sql: String, _ arguments: SQLArguments = []) throws {
        try statement(sql).execute(arguments: arguments.sqlite)
    }

    /// Changes rows, and returns their number.
    func changedRows(_ sql: String, _ arguments: SQLArguments = []) throws -> Int {
        try run(sql, arguments)
        return sqlite.changesCount
    }

    /// The first row; nil if there is none.
    func row(_ sql: String, _ arguments: SQLArguments = []) throws -> SQLRow? {
        try Row.fetchOne(statement(sql), arguments: arguments.sqlite).map(SQLRow.init)
    }

    func rows(_ sql: String, _ arguments: SQLArguments = []) throws -> [SQLRow] {
        try map(sql, arguments, copying: true) { $0 }
    }

    /// The rows, each as `transform` makes it of a row that is valid during the call only. So a row is not copied.
    func map<Value>(
        _ sql: String, _ arguments: SQLArguments = [], _ transform: (SQLRow) throws -> Value
    ) throws -> [Value] {
        try map(sql, arguments, copying: false, transform)
    }

    /// Calls `body` for each row, until it returns false.
    func forEach(_ sql: String, _ arguments: SQLArguments = [], _ body: (SQLRow) throws -> Bool) throws {
        let cursor = try Row.fetchCursor(statement(sql), arguments: arguments.sqlite)
        while let row = try cursor.next(), try body(SQLRow(row)) {}
    }

    /// The first column of the first row; nil if there is no row, or if it is NULL.
    func value<Value: SQLValue>(
        _ sql: String, _ arguments: SQLArguments = [], as type: Value.Type = Value.self
    ) throws -> Value? {
        try Value.fetchOne(statement(sql), arguments: arguments.sqlite)
    }

    /// The first column of all rows.
    func values<Value: SQLValue>(
        _ sql: String, _ arguments: SQLArguments = [], as type: Value.Type = Value.self
    ) throws -> [Value] {
        try Value.fetchAll(statement(sql), arguments: arguments.sqlite)
    }

    /// Whether the database has a table: older databases do not have all.
    func hasTable(_ name: String) throws -> Bool { try sqlite.tableExists(name) }

    private func statement(_ sql: String) throws -> Statement { try sqlite.cachedStatement(sql: sql) }

    private func map<Value>(
        _ sql: String, _ arguments: SQLArguments, copying: Bool, _ transform: (SQLRow) throws -> Value
    ) throws -> [Value] {
        let cursor = try Row.fetchCursor(statement(sql), arguments: arguments.sqlite)
        var values: [Value] = []
        while let row = try cursor.next() { values.append(try transform(SQLRow(copying ? row.copy() : row))) }
        return values
    }
}
