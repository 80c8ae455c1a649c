import Foundation

/// A JSON value: the `metadata` of a client, the data of an event in the journal, or a part of a document.
///
/// Objects keep the order in which members were added, because people read documents, too. Two objects are equal if
/// they have the same members in any order (RFC 8259, section 4).
public enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object(JSONObject)
    case text(String)
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSON)...) { self = .object(JSONObject(elements)) }
}

/// Shorthands for documents. An absent value is written as `null`, never left out.
extension JSON {
    public static func optional(_ value: String?) -> JSON { value.map(JSON.string) ?? .null }
    public static func optional(_ value: Int64?) -> JSON { value.map(JSON.integer) ?? .null }
    public static func optional(_ value: Int?) -> JSON { value.map { .integer(Int64($0)) } ?? .null }
    public static func optional(_ value: Double?) -> JSON { value.map(JSON.number) ?? .null }
    public static func optional(_ value: Date?) -> JSON { value.map { .string($0.rfc3339) } ?? .null }
    public static func time(_ value: Date) -> JSON { .string(value.rfc3339) }
    public static func count(_ value: Int) -> JSON { .integer(Int64(value)) }
    public static func strings(_ values: [String]) -> JSON { .array(values.map(JSON.string)) }
}

extension JSON {
    public var objectValue: JSONObject? { if case .object(let object) = self { object } else { nil } }
    public var arrayValue: [JSON]? { if case .array(let array) = self { array } else { nil } }
    public var stringValue: String? { if case .string(let string) = self { string } else { nil } }
    public var boolValue: Bool? { if case .bool(let bool) = self { bool } else { nil } }
    public var integerValue: Int64? {
        switch self {
        case .integer(let integer): integer
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }
    public var numberValue: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }
}

/// The members of a JSON object, in order. Names are unique: setting a name again replaces its value in place.
public struct JSONObject: Sendable, ExpressibleByDictionaryLiteral {
    public private(set) var members: [(name: String, value: JSON)] = []

    public init() {}

    /// A literal must contain each name only once.
    public init(dictionaryLiteral elements: (String, JSON)...) { self.init(elements) }

    /// - Parameter elements: each name only once.
    init(_ elements: [(String, JSON)]) { members = elements.map { (name: $0.0, value: $0.1) } }

    /// - Parameter name: not yet in the object.
    mutating func append(_ name: String, _ value: JSON) { members.append((name, value)) }

    public var isEmpty: Bool { members.isEmpty }
    public var names: [String] { members.map(\.name) }

    public subscript(name: String) -> JSON? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.name] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(members.count)
        hasher.combine(Set(names))
    }
}

/// Writes JSON text (RFC 8259), compact, with members in their order.
///
/// The writer is written by hand. Foundation's encoder does not keep the order of members, and is much slower: it takes
/// 11 µs for a job of 600 bytes, and clients poll documents.
extension JSON {
    public var written: String { String(decoding: bytes, as: UTF8.self) }

    public var bytes: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(1_536)
        write(into: &out)
        return out
    }

    /// The text as a line, so that a terminal shows the prompt on the next one.
    public var line: [UInt8] {
        var out = bytes
        out.append(UInt8(ascii: "\n"))
        return out
    }

    public func write(into out: inout [UInt8]) {
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let bool): out.append(contentsOf: (bool ? "true" : "false").utf8)
        case .integer(let integer): Self.write(integer, into: &out)
        case .number(let number): Self.write(number, into: &out)
        case .string(let string): Self.write(string, into: &out)
        case .text(let text): out.append(contentsOf: text.utf8)
        case .array(let values):
            out.append(UInt8(ascii: "["))
            for index in values.indices {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                values[index].write(into: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let object):
            out.append(UInt8(ascii: "{"))
            let members = object.members
            for index in members.indices {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                Self.write(members[index].name, into: &out)
                out.append(UInt8(ascii: ":"))
                members[index].value.write(into: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    static func write(_ string: String, into out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        // Most strings have nothing to escape, and are copied at once.
        let isCopied = string.utf8.withContiguousStorageIfAvailable { text in
            guard !text.contains(where: needsEscape) else { return false }
            out.append(contentsOf: text)
            return true
        }
        if isCopied != true { for byte in string.utf8 { writeEscaped(byte, into: &out) } }
        out.append(UInt8(ascii: "\""))
    }

    /// Whole numbers have no fraction (`60`, not `60.0`), others the shortest form that reads back as the same value. JSON has
    /// no NaN and no infinity: a measurement without a finite value is written as `null`.
    static func write(_ number: Double, into out: inout [UInt8]) {
        if let whole = Int64(exactly: number) { return write(whole, into: &out) }
        out.append(contentsOf: (number.isFinite ? number.description : "null").utf8)
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func writeEscaped(_ byte: UInt8, into out: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""): out.append(contentsOf: #"\""#.utf8)
        case UInt8(ascii: "\\"): out.append(contentsOf: #"\\"#.utf8)
        case UInt8(ascii: "\n"): out.append(contentsOf: #"\n"#.utf8)
        case UInt8(ascii: "\r"): out.append(contentsOf: #"\r"#.utf8)
        case UInt8(ascii: "\t"): out.append(contentsOf: #"\t"#.utf8)
        case 0..<0x20:
            out.append(contentsOf: #"\u"#.utf8)
            out.append(contentsOf: byte.digits(4, radix: 16).utf8)
        default: out.append(byte)
        }
    }

    static func write(_ integer: Int64, into out: inout [UInt8]) {
        let start = out.count
        var rest = integer.magnitude
        repeat {
            out.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        if integer < 0 { out.append(UInt8(ascii: "-")) }
        out[start...].reverse()
    }
}
