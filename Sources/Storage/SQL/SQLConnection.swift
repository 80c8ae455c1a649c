import GRDB

/// A connection to the database of the store, inside a transaction or a snapshot.
///
/// All statements above it are written once, in a dialect that the engines share: `?`, `?1` or `:name` for values, 0 and 1
/// for booleans, milliseconds for times. `PostgresDialect` lists what differs. Each connection prepares a text once.
struct SQLConnection {
    private enum Engine {
        case sqlite(Database)
        case postgres(PostgresSession)
    }

    private let engine: Engine

    init(_ database: Database) { engine = .sqlite(database) }
    init(_ session: PostgresSession) { engine = .postgres(session) }

    /// SQLite's connection, for what only SQLite has.
    var sqlite: Database {
        guard case .sqlite(let database) = engine else { preconditionFailure("the database is not SQLite") }
        return database
    }

    var isPostgres: Bool { if case .postgres = engine { true } else { false } }

    /// The jobs that other nodes have changed since the last commit of this store; nil: they have changed nothing.
    var changedByOthers: CommitNotice.Jobs? {
        if case .postgres(let session) = engine { session.changedByOthers } else { nil }
    }

    /// The number of the last stored jump of the clock, if the service shares its database.
    var lastJump: Int64? { if case .postgres(let session) = engine { session.lastJump } else { nil } }

    /// Differs after each change of the settings that clients have stored, if the service shares its database.
    var settingsVersion: Int64? { if case .postgres(let session) = engine { session.settingsVersion } else { nil } }

    /// Changes rows. PostgreSQL may receive the statement later, together with the next one that returns something.
    func run(_ sql: String, _ arguments: SQLArguments = []) throws {
        switch engine {
        case .sqlite(let database): try database.cachedStatement(sql: sql).execute(arguments: arguments.sqlite)
        case .postgres(let session): try session.run(sql, arguments)
        }
    }

    /// Changes rows, and returns their number.
    func changedRows(_ sql: String, _ arguments: SQLArguments = []) throws -> Int {
        switch engine {
        case .sqlite(let database):
            try run(sql, arguments)
            return database.changesCount
        case .postgres(let session): return try session.changedRows(sql, arguments)
        }
    }

    /// The first row; nil if there is none.
    func row(_ sql: String, _ arguments: SQLArguments = []) throws -> SQLRow? {
        switch engine {
        case .sqlite(let database):
            try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments.sqlite).map { SQLRow($0) }
        case .postgres(let session): try session.rows(sql, arguments).first.map { SQLRow($0) }
        }
    }

    func rows(_ sql: String, _ arguments: SQLArguments = []) throws -> [SQLRow] {
        switch engine {
        case .sqlite(let database):
            try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments.sqlite).map { SQLRow($0) }
        case .postgres(let session): try session.rows(sql, arguments).map { SQLRow($0) }
        }
    }

    /// The rows, each as `transform` makes it of a row that is valid during the call only. So a row is not copied.
    func map<Value>(
        _ sql: String, _ arguments: SQLArguments = [], _ transform: (SQLRow) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try forEach(sql, arguments) { row in
            values.append(try transform(row))
            return true
        }
        return values
    }

    /// Calls `body` for each row, until it returns false.
    func forEach(_ sql: String, _ arguments: SQLArguments = [], _ body: (SQLRow) throws -> Bool) throws {
        switch engine {
        case .sqlite(let database):
            let cursor = try Row.fetchCursor(database.cachedStatement(sql: sql), arguments: arguments.sqlite)
            while let row = try cursor.next(), try body(SQLRow(row)) {}
        case .postgres(let session):
            for row in try session.rows(sql, arguments) { guard try body(SQLRow(row)) else { return } }
        }
    }

    /// The first column of the first row; nil if there is no row, or if it is NULL.
    func value<Value: SQLValue>(
        _ sql: String, _ arguments: SQLArguments = [], as type: Value.Type = Value.self
    ) throws -> Value? {
        switch engine {
        case .sqlite(let database):
            try Value.fetchOne(database.cachedStatement(sql: sql), arguments: arguments.sqlite)
        case .postgres(let session): try session.rows(sql, arguments).first?.optional(0)
        }
    }

    /// The first column of all rows.
    func values<Value: SQLValue>(
        _ sql: String, _ arguments: SQLArguments = [], as type: Value.Type = Value.self
    ) throws -> [Value] {
        switch engine {
        case .sqlite(let database):
            try Value.fetchAll(database.cachedStatement(sql: sql), arguments: arguments.sqlite)
        case .postgres(let session): try session.rows(sql, arguments).map { $0.value(0) }
        }
    }

    /// Whether the database has a table: older databases do not have all.
    func hasTable(_ name: String) throws -> Bool {
        switch engine {
        case .sqlite(let database): try database.tableExists(name)
        case .postgres: try value("SELECT to_regclass(?) IS NOT NULL", [name], as: Bool.self) == true
        }
    }
}
