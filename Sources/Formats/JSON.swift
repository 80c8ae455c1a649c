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
    /// JSON text that is written unchanged.
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
