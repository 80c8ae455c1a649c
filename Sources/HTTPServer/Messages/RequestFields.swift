import HTTPTypes

/// The header fields of a request, in the order in which they were sent.
///
/// The bytes of all fields are in one array. A value becomes a string when a handler asks for it, because most fields
/// of a request are never read.
public struct RequestFields: Sendable, Hashable {
    /// The positions of one field in `bytes`. Its value ends where the next field begins.
    private struct Field: Sendable, Hashable {
        var start: Int32
        var nameEnd: Int32
        var end: Int32
    }

    private var bytes: [UInt8] = []
    private var fields: [Field] = []

    public init() {}

    /// The value of a field; several values are joined by a comma (RFC 9110, section 5.3). nil if the field is missing.
    public subscript(name: HTTPField.Name) -> String? {
        get {
            var values = fields.lazy.filter { has($0, name) }.map { string($0.nameEnd, $0.end) }.makeIterator()
            guard var joined = values.next() else { return nil }
            while let value = values.next() { joined += (name == .cookie ? "; " : ", ") + value }
            return joined
        }
        set {
            remove(name)
            if let newValue { append(name: Array(name.rawName.utf8), value: Array(newValue.utf8)) }
        }
    }

    /// The values of all fields with this name.
    public subscript(values name: HTTPField.Name) -> [String] {
        fields.filter { has($0, name) }.map { string($0.nameEnd, $0.end) }
    }

    var count: Int { fields.count }

    func count(of name: HTTPField.Name) -> Int { fields.count { has($0, name) } }

    public func contains(_ name: HTTPField.Name) -> Bool { fields.contains { has($0, name) } }

    /// NUL, CR and LF in the value become spaces, because a handler may copy the value to where they end something.
    mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: name)
        let nameEnd = bytes.count
        bytes.append(contentsOf: value)
        for index in nameEnd..<bytes.count where Self.endsText(bytes[index]) {
            bytes[index] = UInt8(ascii: " ")
        }
        fields.append(Field(start: Int32(start), nameEnd: Int32(nameEnd), end: Int32(bytes.count)))
    }

    mutating func reserve(bytes: Int, fields: Int) {
        self.bytes.reserveCapacity(bytes)
        self.fields.reserveCapacity(fields)
    }

    private mutating func remove(_ name: HTTPField.Name) {
        var rest = RequestFields()
        for field in fields where !has(field, name) {
            rest.append(
                name: bytes[Int(field.start)..<Int(field.nameEnd)], value: bytes[Int(field.nameEnd)..<Int(field.end)])
        }
        self = rest
    }

    private func has(_ field: Field, _ name: HTTPField.Name) -> Bool {
        let expected = name.canonicalName.utf8
        guard Int(field.nameEnd - field.start) == expected.count else { return false }
        var index = Int(field.start)
        for byte in expected {
            guard Self.lowercased(bytes[index]) == byte else { return false }
            index += 1
        }
        return true
    }

    private static func endsText(_ byte: UInt8) -> Bool { byte == 0 || byte == 10 || byte == 13 }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }

    private func string(_ start: Int32, _ end: Int32) -> String {
        String(decoding: bytes[Int(start)..<Int(end)], as: UTF8.self)
    }
}

extension RequestFields: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        self.init()
        for (name, value) in elements { append(name: Array(name.rawName.utf8), value: Array(value.utf8)) }
    }
}
