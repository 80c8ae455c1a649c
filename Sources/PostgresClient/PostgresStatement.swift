/// One SQL statement with its values for `$1`, `$2`, ...
public struct PostgresStatement: Sendable, Equatable {
    public var sql: String
    public var values: [PostgresValue]
    /// Whether each connection prepares the statement once. Not for a text that is seldom used twice.
    public var isPrepared: Bool

    public init(_ sql: String, _ values: [PostgresValue] = [], isPrepared: Bool = true) {
        self.sql = sql
        self.values = values
        self.isPrepared = isPrepared
    }
}

/// A value of a statement, with its type: NULL has a type as well, so that the server prepares a statement once. A value
/// without a type leaves the type to the server.
///
/// An array is for `unnest($1)`: a statement then writes any number of rows.
public enum PostgresValue: Sendable, Equatable {
    case int8(Int64?)
    /// Without NUL, which PostgreSQL cannot store in a text.
    case text(String?)
    case int8Array([Int64?])
    case float8Array([Double?])
    case textArray([String?])
    case byteaArray([[UInt8]?])
    /// A value as SQL writes it in a literal, such as `-1`, `0.5`, `\x00ff` for bytes, or any text without NUL. The server
    /// takes the type from the place in the statement, such as the column that it is compared with, for NULL as well.
    case inferred(String?)

    var type: PostgresType {
        switch self {
        case .int8: .int8
        case .text: .text
        case .int8Array: .int8Array
        case .float8Array: .float8Array
        case .textArray: .textArray
        case .byteaArray: .byteaArray
        case .inferred: .inferred
        }
    }

    /// Whether the value is sent as text, and not in the binary format of its type.
    var isWritten: Bool { if case .inferred = self { true } else { false } }
}

/// The identifiers of types that every server has (`pg_type.dat`).
struct PostgresType: Sendable, Hashable {
    let oid: UInt32

    /// The server takes the type from the statement.
    static let inferred = PostgresType(oid: 0)
    static let bool = PostgresType(oid: 16)
    static let bytea = PostgresType(oid: 17)
    static let name = PostgresType(oid: 19)
    static let int8 = PostgresType(oid: 20)
    static let int2 = PostgresType(oid: 21)
    static let int4 = PostgresType(oid: 23)
    static let text = PostgresType(oid: 25)
    static let oid = PostgresType(oid: 26)
    static let json = PostgresType(oid: 114)
    static let float4 = PostgresType(oid: 700)
    static let float8 = PostgresType(oid: 701)
    /// The type of a literal, such as `SELECT 'a'` in an old server.
    static let unknown = PostgresType(oid: 705)
    static let byteaArray = PostgresType(oid: 1001)
    static let textArray = PostgresType(oid: 1009)
    static let int8Array = PostgresType(oid: 1016)
    static let float8Array = PostgresType(oid: 1022)
    static let bpchar = PostgresType(oid: 1042)
    static let varchar = PostgresType(oid: 1043)
    static let numeric = PostgresType(oid: 1700)
}
