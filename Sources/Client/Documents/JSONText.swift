import Formats
import Foundation

/// A JSON value as text. `--json` prints the service's documents with all members in their order; the commands decode the
/// members that they need from the same text.
struct JSONText: Sendable, Equatable {
    let bytes: [UInt8]

    /// Removes whitespace at the end: the service ends some of its documents with a line break.
    init(_ bytes: [UInt8]) {
        let end = bytes.lastIndex { !Self.spaces.contains($0) }.map { $0 + 1 } ?? 0
        self.bytes = Array(bytes[..<end])
    }

    init(_ value: JSON) { bytes = value.bytes }

    static let null = JSONText(JSON.null)
    static func string(_ text: String) -> JSONText { JSONText(JSON.string(text)) }
    static func array(_ elements: [JSONText]) -> JSONText { JSONText(JSON.array(elements.map(\.verbatim))) }

    /// - Parameter members: must not repeat a name.
    static func object(_ members: [(name: String, value: JSONText)]) -> JSONText {
        var object = JSONObject()
        for member in members { object[member.name] = member.value.verbatim }
        return JSONText(JSON.object(object))
    }

    /// Encodes a value on one line, with sorted snake_case names and unescaped slashes.
    static func written(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The encoder fails only for values that JSON cannot express, such as infinite numbers; these types have none.
        return (try? encoder.encode(value)).map(Array.init) ?? Array("null".utf8)
    }

    func decoded<Document: Decodable>(_ type: Document.Type) throws -> Document {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(bytes))
    }

    /// A member of an object; nil if there is no such member, or if this is not an object.
    subscript(_ member: String) -> JSONText? { parsed?.objectValue?[member].map { JSONText($0) } }

    /// The members of an object, in their order; empty if this is not an object.
    var members: [(name: String, value: JSONText)] {
        parsed?.objectValue?.members.map { ($0.name, JSONText($0.value)) } ?? []
    }

    /// The elements of an array; empty if this is not an array.
    var elements: [JSONText] { parsed?.arrayValue?.map { JSONText($0) } ?? [] }

    private var parsed: JSON? { try? JSON(parsing: bytes) }
    private var verbatim: JSON { .text(String(decoding: bytes, as: UTF8.self)) }
    private static let spaces: Set<UInt8> = [0x20, 0x0A, 0x0D, 0x09]
}
