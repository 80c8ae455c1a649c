import Formats
import Foundation

/// A JSON value as text. What `--json` prints is what the service said, member by member in its order; what a command
/// needs of it is decoded from the same text.
struct JSONText: Sendable, Equatable {
    let bytes: [UInt8]

    /// The service ends some of its documents with a line break, which is no part of the value.
    init(_ bytes: [UInt8]) {
        let end = bytes.lastIndex { !Self.spaces.contains($0) }.map { $0 + 1 } ?? 0
        self.bytes = Array(bytes[..<end])
    }

    init(_ value: JSON) { bytes = value.bytes }

    static let null = JSONText(JSON.null)
    static func string(_ text: String) -> JSONText { JSONText(JSON.string(text)) }
    static func array(_ elements: [JSONText]) -> JSONText { JSONText(JSON.array(elements.map(\.verbatim))) }

    /// - Parameter members: each name once.
    static func object(_ members: [(name: String, value: JSONText)]) -> JSONText {
        var object = JSONObject()
        for member in members { object[member.name] = member.value.verbatim }
        return JSONText(JSON.object(object))
    }

    /// On one line, members in snake_case and by name, slashes as they are.
    static func written(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only values that JSON cannot express are refused, such as infinite numbers; none of ours are.
        return (try? encoder.encode(value)).map(Array.init) ?? Array("null".utf8)
    }

    func decoded<Document: Decodable>(_ type: Document.Type) throws -> Document {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(bytes))
    }

    /// Of an object; nil where there is no such member, or where this is no object.
    subscript(_ member: String) -> JSONText? { parsed?.objectValue?[member].map { JSONText($0) } }

    /// Of an object, in its order; none where this is not one.
    var members: [(name: String, value: JSONText)] {
        parsed?.objectValue?.members.map { ($0.name, JSONText($0.value)) } ?? []
    }

    /// Of an array; none where this is not one.
    var elements: [JSONText] { parsed?.arrayValue?.map { JSONText($0) } ?? [] }

    private var parsed: JSON? { try? JSON(parsing: bytes) }
    private var verbatim: JSON { .text(String(decoding: bytes, as: UTF8.self)) }
    private static let spaces: Set<UInt8> = [0x20, 0x0A, 0x0D, 0x09]
}
