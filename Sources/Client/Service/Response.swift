import Formats
import Foundation

/// A successful response that is known to come from fetchd.
struct Response: Sendable {
    let status: Int
    let body: [UInt8]

    /// The document of the service, which `--json` prints.
    var text: JSON { JSON(document: body) }

    func document<Document: Decodable>(_ type: Document.Type) throws(ClientError) -> Document {
        guard let document = try? text.decoded(type) else { throw .unknownForm }
        return document
    }

    func list<Element: Decodable>(_ member: String, of type: Element.Type) throws(ClientError) -> [Element] {
        do {
            return try list(member).map { try $0.decoded(type) }
        } catch {
            throw .unknownForm
        }
    }

    func list(_ member: String) throws(ClientError) -> [JSON] {
        guard let list = text[member]?.arrayValue else { throw .unknownForm }
        return list
    }
}

/// A list or a log of the API with the elements of all its pages.
struct GatheredList: Sendable {
    let member: String
    /// A page of a list names its successor by a cursor, a page of a log (after) by the number of its last entry.
    var position = "cursor"
    var next: JSON = .null
    var elements: [JSON] = []

    func decoded<Element: Decodable>(_ type: Element.Type) throws(ClientError) -> [Element] {
        do {
            return try elements.map { try $0.decoded(type) }
        } catch {
            throw ClientError(
                .protocolError, "The answer cannot be understood",
                "The list of \(member) has an element that cannot be decoded: \(error).")
        }
    }

    var text: JSON { .object([member: .array(elements), "next_\(position)": next]) }
}

extension ClientError {
    static let unknownForm = ClientError(
        .protocolError, "The answer cannot be understood",
        "This version of fetchd does not understand the answer of the service. Use the service's version: compare 'fetchd --version' with /openapi.yaml of the service."
    )
}

/// `--json` prints the service's documents as they are, with all members in their order, so documents are kept as text
/// (`JSON.text`); the commands decode the members that they need from it.
extension JSON {
    /// The text of a document, without the whitespace at its end: the service ends some of its documents with a line break.
    init(document bytes: some BidirectionalCollection<UInt8>) {
        let end = bytes.lastIndex { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }.map { bytes.index(after: $0) }
        self = .text(String(decoding: bytes[..<(end ?? bytes.startIndex)], as: UTF8.self))
    }

    func decoded<Document: Decodable>(_ type: Document.Type) throws -> Document {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(bytes))
    }

    /// A member of an object; nil if there is no such member, or if this is not an object.
    subscript(_ member: String) -> JSON? { parsed?.objectValue?[member] }

    /// The elements of an array as text, which takes less memory; empty if this is not an array.
    var elements: [JSON] { parsed?.arrayValue?.map { .text($0.written) } ?? [] }

    /// nil if this is text that is not JSON.
    var parsed: JSON? {
        guard case .text(let text) = self else { return self }
        return try? JSON(parsing: text)
    }
}

extension JSONObject {
    /// Sets members of a request. A member that is nil is left out, so that the service keeps its value or uses its default.
    mutating func set(_ name: String, _ value: JSON?) { if let value { self[name] = value } }
    mutating func set(_ name: String, _ value: String?) { set(name, value.map(JSON.string)) }
    mutating func set(_ name: String, _ value: Int64?) { set(name, value.map(JSON.integer)) }
    mutating func set(_ name: String, _ value: Int?) { set(name, value.map(JSON.count)) }
    mutating func set(_ name: String, _ values: [String]) { set(name, values.isEmpty ? nil : .strings(values)) }
}
