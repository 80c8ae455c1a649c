import Foundation

/// A JSON value as data: what clients may hang on a job (`metadata`), what the journal keeps of an event, and what documents are made of.
///
/// Objects keep the order in which members were added, because documents are read by people too; two objects are equal
/// when they have the same members in any order (RFC 8259, section 4).
public enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object(JSONObject)
    /// JSON text that is passed on as it was written.
    case text(String)
}

/// The members of a JSON object, in order. Names are unique: setting a name again replaces its value in place.
public struct JSONObject: Sendable, ExpressibleByDictionaryLiteral {
    public private(set) var members: [(name: String, value: JSON)] = []

    public init() {}

    /// A literal names each member once.
    public init(dictionaryLiteral elements: (String, JSON)...) { self.init(elements) }

    /// - Parameter elements: each name once.
    init(_ elements: [(String, JSON)]) { members = elements.map { (name: $0.0, value: $0.1) } }

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

/// Shorthand for documents: an absent value is written as `null`, never left out.
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
