public protocol PostgresDecodable {
    init?(postgres field: PostgresField)
}

/// It reads `bigint`, `integer`, `smallint` and `oid`; and `numeric`, such as a sum of `bigint`, if it is an integer.
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

/// It reads `boolean`, and the types of integers, where 0 is false and 1 is true.
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

/// It reads `double precision`, `real`, and the types of integers.
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

/// It reads the types of text, and `json`.
extension String: PostgresDecodable {
    public init?(postgres field: PostgresField) {
        switch field.type {
        case .text, .varchar, .bpchar, .name, .json, .unknown: self.init(decoding: field.bytes, as: UTF8.self)
        default: return nil
        }
    }
}

extension [UInt8]: PostgresDecodable {
    public init?(postgres field: PostgresField) {
        guard field.type == .bytea else { return nil }
        self.init(field.bytes)
    }
}

/// A value of the type `numeric` in the binary format: digits to the base 10,000 (`numeric_send` of PostgreSQL).
struct PostgresNumeric {
    private var digits: [Int64] = []
    private let weight: Int
    private let isNegative: Bool

    /// nil for "not a number" and infinity, and if the bytes are not of this type.
    init?(_ field: PostgresField) {
        let numbers = Self.numbers(field.bytes)
        guard numbers.count >= 4, numbers[0] >= 0, numbers.count == 4 + Int(numbers[0]) else { return nil }
        switch UInt16(bitPattern: numbers[2]) {
        case 0x0000: isNegative = false
        case 0x4000: isNegative = true
        default: return nil
        }
        weight = Int(numbers[1])
        digits = numbers[4...].map(Int64.init)
    }

    /// nil if there is a fraction, or if the number has more than 64 bits.
    var integer: Int64? {
        guard !digits.isEmpty else { return 0 }
        guard digits.dropFirst(max(0, weight + 1)).allSatisfy({ $0 == 0 }), weight <= 4 else { return nil }
        var value: Int64 = 0
        for index in 0...max(0, weight) {
            let digit = weight >= 0 && index < digits.count ? digits[index] : 0
            // Below zero, where the smallest number has its place.
            let (product, overflows) = value.multipliedReportingOverflow(by: 10_000)
            let (difference, underflows) = product.subtractingReportingOverflow(digit)
            guard !overflows, !underflows else { return nil }
            value = difference
        }
        guard !isNegative else { return value }
        return value == .min ? nil : -value
    }

    private static func numbers(_ bytes: UnsafeRawBufferPointer) -> [Int16] {
        guard bytes.count.isMultiple(of: 2) else { return [] }
        return stride(from: 0, to: bytes.count, by: 2).map {
            Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: Int16.self))
        }
    }
}
