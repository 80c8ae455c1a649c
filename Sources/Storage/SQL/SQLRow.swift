import Foundation
import GRDB
import PostgresClient

/// A row of a result. Its columns are read by index or by name, as a value of the type that the column has. Reading a value that
/// PostgreSQL has sent in another type, or NULL as a value that is not optional, throws.
struct SQLRow {
    private enum Source {
        case sqlite(Row)
        case postgres(PostgresResultRow)
    }

    private let source: Source

    init(_ row: Row) { source = .sqlite(row) }
    init(_ row: PostgresResultRow) { source = .postgres(row) }

    subscript<Value: SQLValue>(_ column: Int) -> Value {
        get throws {
            switch source {
            case .sqlite(let row): row[column]
            case .postgres(let row): try row.value(column)
            }
        }
    }

    subscript<Value: SQLValue>(_ column: Int) -> Value? {
        get throws {
            switch source {
            case .sqlite(let row): row[column]
            case .postgres(let row): try row.optional(column)
            }
        }
    }

    subscript<Value: SQLValue>(_ column: String) -> Value {
        get throws {
            switch source {
            case .sqlite(let row): row[column]
            case .postgres(let row): try row.value(column)
            }
        }
    }

    subscript<Value: SQLValue>(_ column: String) -> Value? {
        get throws {
            switch source {
            case .sqlite(let row): row[column]
            case .postgres(let row): try row.optional(column)
            }
        }
    }
}

extension SQLRow: CustomStringConvertible {
    /// For tests and error messages: the names and values of the columns.
    var description: String {
        switch source {
        case .sqlite(let row): row.description
        case .postgres(let row): row.description
        }
    }
}

/// A type that statements take as a value, and that columns are read as.
protocol SQLValue: DatabaseValueConvertible, StatementColumnConvertible, PostgresDecodable, Sendable {
    /// As in a literal of PostgreSQL, without its quotes. The server takes the type from the statement.
    var literal: String { get }
}

extension Int: SQLValue { var literal: String { String(self) } }

extension Int64: SQLValue { var literal: String { String(self) } }

/// Stored as 0 or 1.
extension Bool: SQLValue { var literal: String { self ? "1" : "0" } }

/// The description of a number is the shortest text that gives the same number.
extension Double: SQLValue { var literal: String { description } }

extension String: SQLValue {
    /// PostgreSQL stores no NUL in a text.
    var literal: String { utf8.contains(0) ? replacing("\0", with: "\u{FFFD}") : self }
}

extension Data: SQLValue {
    public init?(postgres field: PostgresField) {
        guard let bytes = [UInt8](postgres: field) else { return nil }
        self.init(bytes)
    }

    var literal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text = Array("\\x".utf8)
        text.reserveCapacity(2 + 2 * count)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
