/// Reads JSON text, strictly by RFC 8259.
///
/// The parser is written by hand. Foundation's decoder accepts trailing commas (`[1,]`), silently keeps one of two members with
/// the same name, and loses the order of members. fetchd reads a client's text in exactly one way, or refuses it.
extension JSON {
    /// - Throws: `JSONFault` with the reason, and the byte at which the fault is.
    public init(parsing bytes: [UInt8]) throws(JSONFault) {
        var parser = JSONParser(bytes)
        self = try parser.document()
    }

    public init(parsing text: String) throws(JSONFault) { try self.init(parsing: Array(text.utf8)) }

    /// The positions of the names of an object's members, in bytes from the beginning of the text. Empty if the text is
    /// another value.
    ///
    /// - Throws: `JSONFault`.
    public static func memberPositions(in bytes: [UInt8]) throws(JSONFault) -> [String: Int] {
        var parser = JSONParser(bytes)
        var positions: [String: Int] = [:]
        guard parser.take(UInt8(ascii: "{")), !parser.take(UInt8(ascii: "}")) else { return [:] }
        repeat {
            parser.skipSpace()
            let position = parser.position
            positions[try parser.name()] = position
            _ = try parser.value()
        } while parser.take(UInt8(ascii: ","))
        return positions
    }
}

struct JSONParser {
    let bytes: [UInt8]
    var position = 0
    private var depth = 0
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
        while let byte = peek, byte.isASCIIDigit { position += 1 }
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

/// Strings (RFC 8259, section 7).
extension JSONParser {
    mutating func string() throws(JSONFault) -> String {
        position += 1
        var content: [UInt8] = []
        while true {
            let start = position
            while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
                position += 1
            }
            switch peek {
            case UInt8(ascii: "\"") where content.isEmpty:
                position += 1
                return try text(bytes[start..<position - 1])
            case UInt8(ascii: "\""):
                position += 1
                return try text(content[...] + bytes[start..<position - 1])
            case UInt8(ascii: "\\"):
                content += bytes[start..<position]
                try escape(into: &content)
            case nil: throw fault("The text ends inside a string")
            default: throw fault("A control character in a string has to be escaped")
            }
        }
    }

    private func text(_ content: ArraySlice<UInt8>) throws(JSONFault) -> String {
        guard let text = String(validating: content, as: UTF8.self) else { throw fault("The string is not UTF-8") }
        return text
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONFault) {
        position += 1
        let escaped = peek
        position += 1
        switch escaped {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(escaped ?? 0)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"): content += String(try scalar()).utf8
        default:
            position -= 1
            throw fault("This is not an escape that JSON has")
        }
    }

    /// Reads the digits after `\u`: one code point, or both halves of a surrogate pair.
    private mutating func scalar() throws(JSONFault) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(UInt32(first)) { return scalar }
        guard UTF16.isLeadSurrogate(first), bytes[position..<max(position, end)].starts(with: #"\u"#.utf8) else {
            throw fault("Half of a surrogate pair stands alone")
        }
        position += 2
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(second) else { throw fault("Half of a surrogate pair stands alone") }
        let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    private mutating func codeUnit() throws(JSONFault) -> UInt16 {
        let last = position + 4
        guard last <= end, bytes[position..<last].allSatisfy(\.isHexadecimalDigit),
            let unit = UInt16(String(decoding: bytes[position..<last], as: UTF8.self), radix: 16)
        else { throw fault("Four hexadecimal digits should be here") }
        position = last
        return unit
    }
}

public struct JSONFault: Error, Sendable, Equatable, CustomStringConvertible {
    public let offset: Int
    public let reason: String

    public var description: String { "\(reason), at byte \(offset)" }
}
