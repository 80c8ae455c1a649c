/// A type that a column can be read as.
public protocol PostgresDecodable {
    /// nil if the type of the column does not fit.
    init?(postgres field: PostgresField)
}

/// From `bigint`, `integer`, `smallint` and `oid`; and from `numeric`, such as a sum of `bigint`, if it is an integer.
extension Int64: PostgresDecodable {
    public init?(postgres field: PostgresField) {
        let value: Int64? =
            switch field.type {
            case .int8: field.bigEndian(Int64.self)
            case .int4: field.bigEndian(Int32.self).map(Int64.init)
            case .int2: field.bigEndian(Int16.self).map(Int64.init)
            case .oid: field.bigEndian(UInt32.self).map(Int64.init)
            case .numeric: PostgresNumeric(field)?.integer
            default: nil
            }
        guard let value else { return nil }
        self = value
    }
}

extension Int: PostgresDecodable {
    public init?(postgres field: PostgresField) {
        guard let value = Int64(postgres: field) else { return nil }
        self.init(value)
    }
}

/// From `boolean`; and from the types of integers, where 0 is false and 1 is true.
extension Bool: PostgresDecodable {
    public init?(postgres field: PostgresField) {
        if field.type == .bool, field.bytes.count == 1 {
            self = field.bytes[0] != 0
        } else {
            guard let number = Int64(postgres: field), number == 0 || number == 1 else { return nil }
            self = number == 1
        }
    }
}

/// From `double precision`, `real`, and the types of integers.
extension Double: PostgresDecodable {
    public init?(postgres field: PostgresField) {
        let value: Double? =
            switch field.type {
            case .float8: field.bigEndian(UInt64.self).map(Double.init(bitPattern:))
            case .float4: field.bigEndian(UInt32.self).map { Double(Float(bitPattern: $0)) }
            default: Int64(postgres: field).map(Double.init)
            }
        guard let value else { return nil }
        self = value
    }
}

/// From the types of text, and `json`.
extension String: PostgresDecodable {
    public init?(postgres field: PostgresField) {
        switch field.type {
        case .text, .varchar, .bpchar, .name, .json, .unknown: self.init(decoding: field.bytes, as: UTF8.self)
        default: return nil
        }
    }
}
