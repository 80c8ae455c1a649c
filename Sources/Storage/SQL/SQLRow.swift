import Foundation

/// The columns of a row of an engine.
package protocol SQLColumns: CustomStringConvertible {
    func scalar(at column: Int) throws -> SQLScalar

    /// `null` also if there is no such column.
    func scalar(named column: String) throws -> SQLScalar
}

/// A row of a result. Its columns are read by index or by name, as a value of the type that the column has. Reading a value of
/// another type, or NULL as a value that is not optional, throws.
package struct SQLRow: CustomStringConvertible {
    private let columns: any SQLColumns

    package init(_ columns: any SQLColumns) { self.columns = columns }

    package subscript<Value: SQLValue>(_ column: Int) -> Value {
        get throws { try Value.require(columns.scalar(at: column), in: column) }
    }

    package subscript<Value: SQLValue>(_ column: Int) -> Value? {
        get throws { try Value.read(columns.scalar(at: column), in: column) }
    }

    package subscript<Value: SQLValue>(_ column: String) -> Value {
        get throws { try Value.require(columns.scalar(named: column), in: column) }
    }

    package subscript<Value: SQLValue>(_ column: String) -> Value? {
        get throws { try Value.read(columns.scalar(named: column), in: column) }
    }

    package func scalar(at column: Int) throws -> SQLScalar { try columns.scalar(at: column) }

    /// For tests and error messages: the names and values of the columns.
    package var description: String { columns.description }
}

/// A value as a database stores it.
package enum SQLScalar: Sendable, Hashable {
    case null, integer(Int64), real(Double), text(String), bytes(Data)

    /// Without the value, which can be a secret.
    fileprivate var kind: String {
        switch self {
        case .null: "NULL"
        case .integer: "an integer"
        case .real: "a number"
        case .text: "a text"
        case .bytes: "bytes"
        }
    }
}

/// A type that statements take as a value, and that columns are read as.
package protocol SQLValue: Sendable {
    var scalar: SQLScalar { get }

    /// nil if the value is of another type.
    init?(_ scalar: SQLScalar)
}

extension SQLValue {
    fileprivate static func require(_ scalar: SQLScalar, in column: some CustomStringConvertible) throws -> Self {
        guard let value = Self(scalar) else {
            throw StoreError.failed(why: "the column \(column) of a result is \(scalar.kind), and not \(Self.self)")
        }
        return value
    }

    /// nil for NULL.
    static func read(_ scalar: SQLScalar, in column: some CustomStringConvertible) throws -> Self? {
        if case .null = scalar { return nil }
        return try require(scalar, in: column)
    }
}

extension Int: SQLValue {
    package var scalar: SQLScalar { .integer(Int64(self)) }

    package init?(_ scalar: SQLScalar) {
        guard case .integer(let number) = scalar else { return nil }
        self.init(number)
    }
}

extension Int64: SQLValue {
    package var scalar: SQLScalar { .integer(self) }

    package init?(_ scalar: SQLScalar) {
        guard case .integer(let number) = scalar else { return nil }
        self = number
    }
}

/// Stored as 0 or 1.
extension Bool: SQLValue {
    package var scalar: SQLScalar { .integer(self ? 1 : 0) }

    package init?(_ scalar: SQLScalar) {
        guard case .integer(let number) = scalar, number == 0 || number == 1 else { return nil }
        self = number == 1
    }
}

extension Double: SQLValue {
    package var scalar: SQLScalar { .real(self) }

    package init?(_ scalar: SQLScalar) {
        switch scalar {
        case .real(let number): self = number
        case .integer(let number): self.init(number)
        case .null, .text, .bytes: return nil
        }
    }
}

extension String: SQLValue {
    package var scalar: SQLScalar { .text(self) }

    package init?(_ scalar: SQLScalar) {
        guard case .text(let text) = scalar else { return nil }
        self = text
    }
}

extension Data: SQLValue {
    package var scalar: SQLScalar { .bytes(self) }

    package init?(_ scalar: SQLScalar) {
        guard case .bytes(let bytes) = scalar else { return nil }
        self = bytes
    }
}
