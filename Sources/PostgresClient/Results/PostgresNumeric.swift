/// A value of the type `numeric` in the binary format: digits to the base 10,000 (`numeric_send` of PostgreSQL).
struct PostgresNumeric {
    /// The most significant digit first.
    private var digits: [Int64] = []
    /// The exponent of the first digit.
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
