/// A value of a statement, with its type: NULL has a type as well, so that the server prepares a statement once.
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
        }
    }
}
