import Downloads
import Formats
import Foundation
import HTTPServer
import HTTPTypes

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

    /// The parameters are those of `FieldReader.value`.
    mutating func value<Value>(
        _ name: String, _ rule: @autoclosure () -> String, _ read: (String) -> Value?
    ) throws(Problem) -> Value? {
        guard let text = try value(name) else { return nil }
        guard let value = read(text) else { throw Problem(.invalidValue, "The parameter \(name) \(rule()).") }
        return value
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
        try value(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            let integer = text.utf8.allSatisfy(\.isASCIIDigit) ? Int64(text) : nil
            return integer.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    mutating func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, of type: Value.Type
    ) throws(Problem) -> Value? {
        let choices = Value.allCases.map(\.rawValue)
        let rule = choices.count == 1 ? "must be" : "must be one of"
        return try value(name, "\(rule) \(choices.joined(separator: ", "))", Value.init(rawValue:))
    }

    mutating func limit() throws(Problem) -> Int { Int(try integer("limit", in: 1...1000) ?? 100) }

    mutating func name(_ parameter: String) throws(Problem) -> Name? {
        try value(parameter, "is not a valid name: 1 to 128 of A-Z a-z 0-9 . _ - are allowed") { Name($0) }
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

/// A list of documents in a response, written one after another, so that a long list needs no tree of values. It is bounded.
struct DocumentList {
    static let mostBytes = 16 << 20

    private var writer: JSONWriter
    private var isEmpty = true

    init(_ name: StaticString, capacity: Int = 1_024) {
        writer = JSONWriter(capacity: min(capacity, Self.mostBytes))
        writer.value(Array("{\"\(name)\":[".utf8))
    }

    /// - Returns: false if there is no room for the document. Then nothing was added. The first one always has room.
    mutating func add(_ document: [UInt8]) -> Bool {
        guard isEmpty || writer.bytes.count + document.count < Self.mostBytes else { return false }
        if !isEmpty { writer.value([UInt8(ascii: ",")]) }
        isEmpty = false
        writer.value(document)
        return true
    }

    mutating func add(_ document: JSON) -> Bool { add(document.bytes) }

    /// Adds the documents of the elements as far as there is room for them.
    ///
    /// - Returns: the last element that was added, if it is not the last one of all.
    mutating func add<Element>(_ elements: [Element], _ document: (Element) -> JSON) -> Element? {
        elements.firstIndex { !add(document($0)) }.map { elements[$0 - 1] }
    }

    /// - Throws: 422 if there is no room for it.
    mutating func require(_ document: JSON, _ advice: String) throws(Problem) {
        guard add(document) else {
            throw Problem(
                .answerTooLarge, "The list is larger than \(Self.mostBytes >> 20) MiB, the largest answer. \(advice)")
        }
    }

    consuming func response(_ members: KeyValuePairs<StaticString, JSON> = [:], headers: HTTPFields = [:]) -> Response {
        writer.value([UInt8(ascii: "]")])
        for (name, value) in members { writer.member(name, value) }
        writer.value([UInt8(ascii: "}")])
        return .json(writer, headers: headers)
    }
}
