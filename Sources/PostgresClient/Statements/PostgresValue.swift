/// A value of a statement, with its type: NULL has a type as well, so that the server prepares a statement once. A value
/// without a type leaves the type to the server.
///
/// An array is for `unnest($1)`: a statement then writes any number of rows.
public enum PostgresValue: Sendable, Equatable {
    case int8(Int64?)
    case float8(Double?)
    case bool(Bool?)
    /// Without NUL, which PostgreSQL cannot store in a text.
    case text(String?)
    case bytea([UInt8]?)
    case int8Array([Int64?])
    case float8Array([Double?])
    case boolArray([Bool?])
    case textArray([String?])
    case byteaArray([[UInt8]?])
    /// A value as SQL writes it in a literal, such as `-1`, `0.5`, `\x00ff` for bytes, or any text without NUL. The server
    /// takes the type from the place in the statement, such as the column that it is compared with, for NULL as well.
    case inferred(String?)

    var type: PostgresType {
        switch self {
        case .int8: .int8
        case .float8: .float8
        case .bool: .bool
        case .text: .text
        case .bytea: .bytea
        case .int8Array: .int8Array
        case .float8Array: .float8Array
        case .boolArray: .boolArray
        case .textArray: .textArray
        case .byteaArray: .byteaArray
        case .inferred: .inferred
        }
    }

    /// Whether the value is sent as text, and not in the binary format of its type.
    var isWritten: Bool { if case .inferred = self { true } else { false } }
}
