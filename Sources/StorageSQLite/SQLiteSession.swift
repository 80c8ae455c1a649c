import CSQLite
import Foundation
import GRDB
import Storage

extension Database: SQLSession {
    package var isPostgres: Bool { false }

    package func run(_ sql: String, _ arguments: SQLArguments) throws {
        let statement = try statement(sql, arguments)
        // The statement is kept, and its values can be large.
        defer { sqlite3_clear_bindings(statement.sqliteStatement) }
        try statement.execute()
    }

    package func changedRows(_ sql: String, _ arguments: SQLArguments) throws -> Int {
        try run(sql, arguments)
        return changesCount
    }

    package func row(_ sql: String, _ arguments: SQLArguments) throws -> SQLRow? {
        try Row.fetchOne(statement(sql, arguments)).map(SQLRow.init)
    }

    package func rows(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow] {
        try Row.fetchAll(statement(sql, arguments)).map(SQLRow.init)
    }

    package func forEach(_ sql: String, _ arguments: SQLArguments, _ body: (SQLRow) throws -> Bool) throws {
        let statement = try statement(sql, arguments)
        let (cursor, row) = (try Row.fetchCursor(statement), CurrentRow(of: statement))
        while try cursor.next() != nil, try body(SQLRow(row)) {}
    }

    package func value(_ sql: String, _ arguments: SQLArguments) throws -> SQLScalar? {
        try DatabaseValue.fetchOne(statement(sql, arguments))?.scalar
    }

    package func hasTable(_ name: String) throws -> Bool { try tableExists(name) }

    /// A prepared statement with its values. They are bound here, because the arguments of GRDB copy each value three times.
    private func statement(_ sql: String, _ arguments: SQLArguments) throws -> Statement {
        let statement = try cachedStatement(sql: sql)
        // An error of its last execution was reported then.
        sqlite3_reset(statement.sqliteStatement)
        // Clears the former values, and tells GRDB that it has none to bind.
        statement.setUncheckedArguments(StatementArguments())
        try statement.bind(arguments)
        return statement
    }
}

extension Statement {
    /// Names that the statement does not have are left out.
    fileprivate func bind(_ arguments: SQLArguments) throws {
        let named = arguments.named.map {
            (place: sqlite3_bind_parameter_index(sqliteStatement, ":" + $0.name), $0.value)
        }
        .filter { $0.place > 0 }
        let isWhole = sqlite3_bind_parameter_count(sqliteStatement) == arguments.positional.count + named.count
        guard isWhole else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "wrong number of values", sql: sql)
        }
        for (index, value) in arguments.positional.enumerated() { try bind(value, at: CInt(index + 1)) }
        for (place, value) in named { try bind(value, at: place) }
    }

    private func bind(_ value: SQLArguments.Value, at index: CInt) throws {
        let code =
            switch value?.scalar {
            case .null, nil: sqlite3_bind_null(sqliteStatement, index)
            case .integer(let number): sqlite3_bind_int64(sqliteStatement, index, number)
            case .real(let number): sqlite3_bind_double(sqliteStatement, index, number)
            case .text(let text): sqlite3_bind_text(sqliteStatement, index, text, CInt(text.utf8.count), copied)
            case .bytes(let bytes): sqlite3_bind_blob(sqliteStatement, index, [UInt8](bytes), CInt(bytes.count), copied)
            }
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code), sql: sql) }
    }
}

/// `SQLITE_TRANSIENT`: SQLite copies the bytes before the call returns.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

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

    func scalar(named column: String) -> SQLScalar { statement.columnNames.firstIndex(of: column).map(scalar) ?? .null }

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
