/// Reads JSON values from bytes, one after another.
struct JSONParser {
    let bytes: [UInt8]
    var position = 0
    private var depth = 0
    /// The end of the bytes that may be read.
    private(set) var end: Int

    /// Deeper than any valid document, and far less than the depth at which the recursion would exhaust the stack.
    private static let deepest = 128

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        end = bytes.count
    }

    mutating func document() throws(JSONFault) -> JSON {
        let value = try value()
        try finish()
        return value
    }

    /// Only white space may follow.
    mutating func finish() throws(JSONFault) {
        skipSpace()
        guard position == bytes.count else { throw fault("The document is followed by more text") }
    }

    /// Reads a value of at most `limit` bytes.
    ///
    /// - Returns: nil if the value is larger. The parser must not be used after that.
    mutating func value(atMost limit: Int) throws(JSONFault) -> JSON? {
        skipSpace()
        end = min(bytes.count, position + limit)
        defer { end = bytes.count }
        do throws(JSONFault) {
            return try value()
        } catch {
            guard end < bytes.count, position >= end else { throw error }
            return nil
        }
    }

    mutating func value() throws(JSONFault) -> JSON {
        skipSpace()
        guard let first = peek else { throw fault("The text ends where a value should be") }
        switch first {
        case UInt8(ascii: "{"): return try nested { parser throws(JSONFault) in try parser.object() }
        case UInt8(ascii: "["): return try nested { parser throws(JSONFault) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw fault("There is no value here")
        }
    }

    private mutating func nested(_ read: (inout JSONParser) throws(JSONFault) -> JSON) throws(JSONFault) -> JSON {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw fault("The document is nested deeper than \(Self.deepest) levels") }
        return try read(&self)
    }

    private mutating func object() throws(JSONFault) -> JSON {
        var members = JSONObject()
        var names: Set<String> = []
        position += 1
        if take(UInt8(ascii: "}")) { return .object([:]) }
        repeat {
            let name = try name()
            guard !members.contains(name, among: &names) else { throw repeated(name) }
            members.append(name, try value())
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw fault("A comma or the end of the object should be here") }
        return .object(members)
    }

    /// Reads the name of a member, and its colon.
    mutating func name() throws(JSONFault) -> String {
        skipSpace()
        guard peek == UInt8(ascii: "\"") else { throw fault("A member's name should be here, in double quotes") }
        let name = try string()
        guard take(UInt8(ascii: ":")) else { throw fault("A colon should be here") }
        return name
    }

    func repeated(_ name: String) -> JSONFault { fault("The object has two members \"\(name)\"") }

    private mutating func array() throws(JSONFault) -> JSON {
        var values: [JSON] = []
        position += 1
        if take(UInt8(ascii: "]")) { return .array([]) }
        repeat { values.append(try value()) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw fault("A comma or the end of the array should be here") }
        return .array(values)
    }

    private mutating func literal(_ text: StaticString, _ value: JSON) throws(JSONFault) -> JSON {
        let isThere = text.withUTF8Buffer { bytes[position..<end].starts(with: $0) }
        guard isThere else { throw fault("There is no value here") }
        position += text.utf8CodeUnitCount
        return value
    }

    // MARK: Numbers (RFC 8259, section 6)

    private mutating func number() throws(JSONFault) -> JSON {
        let start = position
        if peek == UInt8(ascii: "-") { position += 1 }
        if peek == UInt8(ascii: "0") { position += 1 } else { try digits() }
        var isWhole = true
        if peek == UInt8(ascii: ".") {
            isWhole = false
            position += 1
            try digits()
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            isWhole = false
            position += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw fault("The number is too large") }
        // fetchd's own integers are smaller. A client's identifier may be this large, and must not be rounded.
        return isWhole ? .text(text) : .number(number)
    }

    private mutating func digits() throws(JSONFault) {
        let start = position
        while let byte = peek, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw fault("A digit should be here") }
    }

    // MARK: Bytes

    var peek: UInt8? { position < end ? bytes[position] : nil }

    /// Skips white space, and the byte if it is next.
    ///
    /// - Returns: whether it was next.
    mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard peek == byte else { return false }
        position += 1
        return true
    }

    mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    func fault(_ reason: String) -> JSONFault { JSONFault(offset: min(position, bytes.count), reason: reason) }
}

extension JSONObject {
    /// - Parameter names: the names so far, once there are more than can be compared one by one quickly.
    fileprivate func contains(_ name: String, among names: inout Set<String>) -> Bool {
        guard members.count >= 16 else { return self[name] != nil }
        if names.isEmpty { names = Set(self.names) }
        return !names.insert(name).inserted
    }
}
