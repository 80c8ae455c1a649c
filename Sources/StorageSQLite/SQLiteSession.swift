import Foundation
import GRDB
import Storage

extension Database: SQLSession {
    package var isPostgres: Bool { false }

    package func run(_ sql: String, _ arguments: SQLArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments.sqlite)
    }

    package func changedRows(_ sql: String, _ arguments: SQLArguments) throws -> Int {
        try run(sql, arguments)
        return changesCount
    }

    package func row(_ sql: String, _ arguments: SQLArguments) throws -> SQLRow? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments.sqlite).map(SQLRow.init)
    }

    package func rows(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments.sqlite).map(SQLRow.init)
    }

    package func forEach(_ sql: String, _ arguments: SQLArguments, _ body: (SQLRow) throws -> Bool) throws {
        let statement = try cachedStatement(sql: sql)
        let (cursor, row) = (try Row.fetchCursor(statement, arguments: arguments.sqlite), CurrentRow(of: statement))
        while try cursor.next() != nil, try body(SQLRow(row)) {}
    }

    package func value(_ sql: String, _ arguments: SQLArguments) throws -> SQLScalar? {
        try DatabaseValue.fetchOne(cachedStatement(sql: sql), arguments: arguments.sqlite)?.scalar
    }

    package func hasTable(_ name: String) throws -> Bool { try tableExists(name) }
}

extension SQLConnection {
    /// SQLite's connection, for what only SQLite has.
    var sqlite: Database {
        guard let database = session as? Database else { preconditionFailure("the database is not SQLite") }
        return database
    }
}

extension Row: SQLColumns {
    package func scalar(at column: Int) -> SQLScalar { (self[column] as DatabaseValue?)?.scalar ?? .null }

    package func scalar(named column: String) -> SQLScalar { (self[column] as DatabaseValue?)?.scalar ?? .null }
}

/// The row at which a statement is. `Row` reads each column by a generic call, which was a seventh of the time of cancelling many jobs.
private struct CurrentRow: SQLColumns {
    private let statement: Statement

    init(of statement: Statement) { self.statement = statement }

    func scalar(at column: Int) -> SQLScalar { value(at: column).scalar }

    func scalar(named column: String) -> SQLScalar {
        statement.columnNames.firstIndex(of: column).map(scalar) ?? .null
    }

    var description: String {
        statement.columnNames.enumerated().map { "\($1): \(value(at: $0))" }.joined(separator: ", ")
    }

    private func value(at column: Int) -> DatabaseValue {
        DatabaseValue(sqliteStatement: statement.sqliteStatement, index: CInt(column))
    }
}

extension DatabaseValue {
    fileprivate var scalar: SQLScalar {
        switch storage {
        case .null: .null
        case .int64(let number): .integer(number)
        case .double(let number): .real(number)
        case .string(let text): .text(text)
        case .blob(let bytes): .bytes(bytes)
        }
    }
}

extension SQLArguments {
    fileprivate var sqlite: StatementArguments {
        // Of the initializers of GRDB, the one for optional values is the fastest.
        if named.isEmpty { return StatementArguments(positional.map { $0.sqlite as (any DatabaseValueConvertible)? }) }
        return StatementArguments(named.lazy.map { ($0.name, $0.value.sqlite as (any DatabaseValueConvertible)?) })
    }
}

extension SQLArguments.Value {
    fileprivate var sqlite: DatabaseValue {
        switch self?.scalar {
        case .null, nil: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let bytes): bytes.databaseValue
        }
    }
}
