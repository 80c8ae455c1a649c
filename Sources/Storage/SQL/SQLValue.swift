import Foundation
import GRDB
import PostgresClient

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
