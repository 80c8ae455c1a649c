import Glibc

/// The values of a statement, one after another in one buffer: in the binary format, or as text for an inferred type.
struct EncodedValues {
    private var bytes: [UInt8]
    private var places: [Range<Int>?] = []
    let types: [UInt32]
    /// Each value has 1 for the binary format or 0 for text. A last one follows, so that the list is not empty.
    private let formats: [Int32]

    /// - Throws: `parameterInvalid`.
    init(_ values: [PostgresValue]) throws(PostgresError) {
        guard values.count <= Self.mostValues else {
            throw .parameterInvalid(why: "a statement takes at most \(Self.mostValues) values, not \(values.count)")
        }
        types = values.map(\.type.oid)
        formats = values.map { $0.isWritten ? 0 : 1 } + [1]
        // Not empty, so that it has an address: for libpq, a value without one is NULL.
        bytes = [0]
        for value in values {
            let start = bytes.count
            let isNull = try !bytes.append(value)
            guard bytes.count - start <= Self.mostBytes else {
                throw .parameterInvalid(why: "a value has at most \(Self.mostBytes) bytes, not \(bytes.count - start)")
            }
            places.append(isNull ? nil : start..<bytes.count)
        }
    }

    /// The protocol counts values with 16 bits.
    static let mostValues = 65_535
    /// The server takes no message of more than a gigabyte.
    static let mostBytes = 1_000_000_000

    /// Calls `body` with the arrays that `PQsendQueryPrepared` takes.
    func withArrays<Result>(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>, UnsafePointer<Int32>) -> Result
    ) -> Result {
        let lengths = places.map { Int32($0?.count ?? 0) } + [0]
        return bytes.withUnsafeBytes { bytes in
            let start = bytes.baseAddress!.assumingMemoryBound(to: CChar.self)
            let addresses = places.map { place in place.map { start + $0.lowerBound } } + [nil]
            return body(Int32(places.count), addresses, lengths, formats)
        }
    }
}

extension [UInt8] {
    /// - Returns: false for NULL, which adds nothing.
    fileprivate mutating func append(_ value: PostgresValue) throws(PostgresError) -> Bool {
        switch value {
        case .int8(nil), .text(nil), .inferred(nil): return false
        case .int8(let value?): appendBigEndian(value)
        case .text(let value?): try append(value)
        case .inferred(let value?):
            try append(value)
            // libpq takes the length of a text from its end.
            append(0)
        case .int8Array(let values): try appendArray(values, of: .int8) { $0.appendBigEndian($1) }
        case .float8Array(let values): try appendArray(values, of: .float8) { $0.appendBigEndian($1.bitPattern) }
        case .textArray(let values):
            try appendArray(values, of: .text) { (bytes, value) throws(PostgresError) in try bytes.append(value) }
        case .byteaArray(let values): try appendArray(values, of: .bytea) { $0.append(contentsOf: $1) }
        }
        return true
    }

    /// The format of `array_recv`: the dimensions, whether an element is NULL, the type; then for the one dimension its
    /// length and first index; then each element with its length, which is -1 for NULL.
    private mutating func appendArray<Value>(
        _ values: [Value?], of type: PostgresType, _ append: (inout [UInt8], Value) throws(PostgresError) -> Void
    ) throws(PostgresError) {
        appendBigEndian(Int32(values.isEmpty ? 0 : 1))
        appendBigEndian(Int32(values.contains { $0 == nil } ? 1 : 0))
        appendBigEndian(type.oid)
        guard !values.isEmpty else { return }
        appendBigEndian(Int32(clamping: values.count))
        appendBigEndian(Int32(1))
        for value in values {
            let start = count
            appendBigEndian(Int32(-1))
            guard let value else { continue }
            try append(&self, value)
            replaceBigEndian(Int32(clamping: count - start - 4), at: start)
        }
    }

    private mutating func append(_ text: String) throws(PostgresError) {
        var text = text
        let hasNUL = text.withUTF8 { bytes in
            append(contentsOf: bytes)
            return bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        }
        guard !hasNUL else { throw .parameterInvalid(why: "a text contains a NUL") }
    }

    private mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    private mutating func replaceBigEndian(_ value: Int32, at index: Int) {
        Swift.withUnsafeBytes(of: value.bigEndian) { replaceSubrange(index..<index + 4, with: $0) }
    }
}
