/// A transaction or a snapshot on a connection of an engine. The connection prepares each text once.
package protocol SQLSession: AnyObject {
    /// Whether PostgreSQL numbers the events, and each statement costs a round trip.
    var isPostgres: Bool { get }

    /// Changes rows. PostgreSQL may receive the statement later, together with the next one that returns something.
    func run(_ sql: String, _ arguments: SQLArguments) throws

    /// Changes rows, and returns their number.
    func changedRows(_ sql: String, _ arguments: SQLArguments) throws -> Int

    /// The first row; nil if there is none.
    func row(_ sql: String, _ arguments: SQLArguments) throws -> SQLRow?

    func rows(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow]

    /// Calls `body` for each row, until it returns false. The row is valid during the call only.
    func forEach(_ sql: String, _ arguments: SQLArguments, _ body: (SQLRow) throws -> Bool) throws

    /// The first column of the first row; nil if there is no row.
    func value(_ sql: String, _ arguments: SQLArguments) throws -> SQLScalar?

    /// Whether the database has a table. A new one has none.
    func hasTable(_ name: String) throws -> Bool
}

/// A connection to the database of the store, inside a transaction or a snapshot.
///
/// All statements above it are written once, in a dialect that the engines share: `?`, `?1` or `:name` for values, 0 and 1
/// for booleans, milliseconds for times. `PostgresDialect` lists what differs.
package struct SQLConnection {
    package let session: any SQLSession

    package init(_ session: any SQLSession) { self.session = session }

    package var isPostgres: Bool { session.isPostgres }

    package func run(_ sql: String, _ arguments: SQLArguments = []) throws { try session.run(sql, arguments) }

    package func changedRows(_ sql: String, _ arguments: SQLArguments = []) throws -> Int {
        try session.changedRows(sql, arguments)
    }

    package func row(_ sql: String, _ arguments: SQLArguments = []) throws -> SQLRow? {
        try session.row(sql, arguments)
    }

    package func rows(_ sql: String, _ arguments: SQLArguments = []) throws -> [SQLRow] {
        try session.rows(sql, arguments)
    }

    /// The rows, each as `transform` makes it of a row that is valid during the call only. So a row is not copied.
    package func map<Value>(
        _ sql: String, _ arguments: SQLArguments = [], _ transform: (SQLRow) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try session.forEach(sql, arguments) { row in
            values.append(try transform(row))
            return true
        }
        return values
    }

    package func forEach(_ sql: String, _ arguments: SQLArguments = [], _ body: (SQLRow) throws -> Bool) throws {
        try session.forEach(sql, arguments, body)
    }

    /// The first column of the first row; nil if there is no row, or if it is NULL.
    package func value<Value: SQLValue>(
        _ sql: String, _ arguments: SQLArguments = [], as type: Value.Type = Value.self
    ) throws -> Value? {
        try session.value(sql, arguments).flatMap { try Value.read($0, in: 0) }
    }

    /// The first column of all rows.
    package func values<Value: SQLValue>(
        _ sql: String, _ arguments: SQLArguments = [], as type: Value.Type = Value.self
    ) throws -> [Value] {
        try map(sql, arguments) { try $0[0] }
    }

    package func hasTable(_ name: String) throws -> Bool { try session.hasTable(name) }
}

/// The values of a statement: in the order of its `?`, or by the names of its `:name`.
package struct SQLArguments: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// nil is NULL.
    package typealias Value = (any SQLValue)?

    package private(set) var positional: [Value] = []
    package private(set) var named: [(name: String, value: Value)] = []

    package init(_ values: [Value]) { positional = values }
    package init(_ values: [some SQLValue]) { positional = values }
    package init(arrayLiteral values: Value...) { positional = values }
    package init(dictionaryLiteral values: (String, Value)...) { named = values.map { (name: $0, value: $1) } }

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
}
