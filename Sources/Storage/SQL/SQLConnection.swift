import GRDB
import PostgresClient

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
        case .postgres(let session): try session.rows(sql, arguments).map { try $0.value(0) }
        }
    }

    /// Whether the database has a table. A new one has none.
    func hasTable(_ name: String) throws -> Bool {
        switch engine {
        case .sqlite(let database): try database.tableExists(name)
        case .postgres: try value("SELECT to_regclass(?) IS NOT NULL", [name], as: Bool.self) == true
        }
    }
}

/// The values of a statement: in the order of its `?`, or by the names of its `:name`.
struct SQLArguments: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// nil is NULL.
    typealias Value = (any SQLValue)?

    private(set) var positional: [Value] = []
    private(set) var named: [(name: String, value: Value)] = []

    init(_ values: [Value]) { positional = values }
    init(_ values: [some SQLValue]) { positional = values }
    init(arrayLiteral values: Value...) { positional = values }
    init(dictionaryLiteral values: (String, Value)...) { named = values.map { (name: $0, value: $1) } }

    static func + (first: SQLArguments, second: SQLArguments) -> SQLArguments {
        var all = first
        all += second
        return all
    }

    static func += (first: inout SQLArguments, second: SQLArguments) {
        first.positional += second.positional
        first.named += second.named
    }

    mutating func set(_ name: String, _ value: Value) { named.append((name, value)) }

    var sqlite: StatementArguments {
        if named.isEmpty { return StatementArguments(positional.lazy.map { $0 as (any DatabaseValueConvertible)? }) }
        return StatementArguments(named.lazy.map { ($0.name, $0.value as (any DatabaseValueConvertible)?) })
    }

    /// The values in the order in which PostgreSQL gets them.
    func postgres(_ parameters: [PostgresDialect.Parameter]) -> [PostgresValue] {
        let named = Dictionary(named.map { ($0.name, $0.value) }) { $1 }
        return parameters.map { parameter in
            switch parameter {
            case .position(let position):
                precondition(position < positional.count, "the statement has more parameters than values")
                return .inferred(positional[position]?.literal)
            case .name(let name):
                guard let value = named[name] else { preconditionFailure("the statement has no value for \(name)") }
                return .inferred(value?.literal)
            }
        }
    }
}
