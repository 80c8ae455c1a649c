import Downloads
import Formats
import Foundation

/// The decoded query of a request target. Like unknown fields of a body, unknown parameters are refused.
struct Query {
    private let items: [(name: String, value: String)]
    private var known: Set<String> = []

    init(_ text: String?) throws(Problem) {
        var items: [(name: String, value: String)] = []
        for pair in (text ?? "").split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(halves[0]), let value = Self.decode(halves.count > 1 ? halves[1] : "") else {
                throw Problem(.malformedRequest, "The query contains a malformed percent-encoding.")
            }
            items.append((name, value))
        }
        self.items = items
    }

    mutating func value(_ name: String) throws(Problem) -> String? {
        known.insert(name)
        let values = items.filter { $0.name == name }
        guard values.count <= 1 else { throw Problem(.invalidValue, "The parameter \(name) is given twice.") }
        return values.first?.value
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
        guard let text = try value(name) else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let integer = Int64(text), range.contains(integer)
        else {
            throw Problem(
                .invalidValue,
                "The parameter \(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return integer
    }

    mutating func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, of type: Value.Type
    ) throws(Problem) -> Value? {
        guard let text = try value(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            let choices = Value.allCases.map(\.rawValue).joined(separator: ", ")
            let rule = Value.allCases.count == 1 ? "must be" : "must be one of"
            throw Problem(.invalidValue, "The parameter \(name) \(rule) \(choices).")
        }
        return value
    }

    /// The maximum number of items on a page: 1 to 1,000.
    mutating func limit() throws(Problem) -> Int { Int(try integer("limit", in: 1...1000) ?? 100) }

    /// A name of a session or webhook. An invalid name is an error.
    mutating func name(_ parameter: String) throws(Problem) -> Name? {
        guard let text = try value(parameter) else { return nil }
        guard let name = Name(text) else {
            throw Problem(
                .invalidValue,
                "The parameter \(parameter) is not a valid name: 1 to 128 of A-Z a-z 0-9 . _ - are allowed.")
        }
        return name
    }

    func finish() throws(Problem) {
        if let unknown = items.first(where: { !known.contains($0.name) }) {
            throw Problem(.unknownField, "The parameter \(unknown.name) is not known here.")
        }
    }

    private static func decode(_ text: Substring) -> String? {
        guard text.utf8.contains(UInt8(ascii: "+")) else { return text.percentDecoded }
        return text.replacing("+", with: " ").percentDecoded
    }
}

/// The position of the next page of a list, as text that is opaque to clients.
enum Cursor {
    static func text(_ position: String) -> String {
        Data(position.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
    }

    static func position(_ text: String) throws(Problem) -> String {
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)
        guard let data = Data(base64Encoded: padded), let position = String(data: data, encoding: .utf8) else {
            throw unknown
        }
        return position
    }

    static let unknown = Problem(
        .invalidValue, "The parameter cursor does not come from this list. Omit it to read the first page.")
}
