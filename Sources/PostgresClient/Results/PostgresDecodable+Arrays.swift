/// From `bytea`, or from an array of one dimension without NULL.
extension Array: PostgresDecodable where Element: PostgresArrayElement {
    public init?(postgres field: PostgresField) {
        guard let elements = Element.array(of: field) else { return nil }
        self = elements
    }
}

/// A type that an array can be read as: `bytea` as bytes, the other ones as elements.
public protocol PostgresArrayElement {
    static func array(of field: PostgresField) -> [Self]?
}

extension UInt8: PostgresArrayElement {
    public static func array(of field: PostgresField) -> [UInt8]? {
        field.type == .bytea ? [UInt8](field.bytes) : nil
    }
}

extension Int64: PostgresArrayElement {
    public static func array(of field: PostgresField) -> [Int64]? { field.elements(of: .int8Array) }
}

extension Double: PostgresArrayElement {
    public static func array(of field: PostgresField) -> [Double]? { field.elements(of: .float8Array) }
}

extension Bool: PostgresArrayElement {
    public static func array(of field: PostgresField) -> [Bool]? { field.elements(of: .boolArray) }
}

extension String: PostgresArrayElement {
    public static func array(of field: PostgresField) -> [String]? { field.elements(of: .textArray) }
}

extension [UInt8]: PostgresArrayElement {
    public static func array(of field: PostgresField) -> [[UInt8]]? { field.elements(of: .byteaArray) }
}

extension PostgresField {
    /// The elements in the format of `array_send`, which `EncodedValues` writes as well.
    fileprivate func elements<Element: PostgresDecodable>(of type: PostgresType) -> [Element]? {
        guard self.type == type, let dimensions = int32(at: 0), let elementType = int32(at: 8) else { return nil }
        guard dimensions > 0 else { return [] }
        guard dimensions == 1, let count = int32(at: 12) else { return nil }
        var elements: [Element] = []
        elements.reserveCapacity(Int(min(count, Int32(bytes.count / 4))))
        var position = 20
        for _ in 0..<count {
            guard let length = int32(at: position), length >= 0, position + 4 + Int(length) <= bytes.count else {
                return nil
            }
            let slice = UnsafeRawBufferPointer(rebasing: bytes[position + 4..<position + 4 + Int(length)])
            let field = PostgresField(type: PostgresType(oid: UInt32(bitPattern: elementType)), bytes: slice)
            guard let element = Element(postgres: field) else { return nil }
            elements.append(element)
            position += 4 + Int(length)
        }
        return elements
    }

    private func int32(at position: Int) -> Int32? {
        guard position + 4 <= bytes.count else { return nil }
        return Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: Int32.self))
    }
}
