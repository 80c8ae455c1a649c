import Foundation

/// A JSON value as the text that it came as. What `--json` prints is what the service said, member by member in its
/// order; what a command needs of it is decoded from the same text.
struct JSONText: Sendable, Equatable {
    let bytes: ArraySlice<UInt8>

    /// The service ends some of its documents with a line break, which is no part of the value.
    init(_ bytes: [UInt8]) {
        let end = bytes.lastIndex { !JSONScanner.isSpace($0) }.map { $0 + 1 } ?? 0
        self.bytes = bytes[..<end]
    }

    fileprivate init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    static let null = JSONText(Array("null".utf8))
    static func string(_ text: String) -> JSONText { JSONText(written(text)) }

    static func array(_ elements: [JSONText]) -> JSONText {
        JSONText(Array("[".utf8) + elements.map(\.bytes).joined(separator: ",".utf8) + Array("]".utf8))
    }

    static func object(_ members: [(name: String, value: JSONText)]) -> JSONText {
        let texts = members.map { written($0.name) + Array(":".utf8) + $0.value.bytes }
        return JSONText(Array("{".utf8) + texts.joined(separator: ",".utf8) + Array("}".utf8))
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
    subscript(_ member: String) -> JSONText? { members.first { $0.name == member }?.value }

    /// Of an object, in its order; none where this is not one.
    var members: [(name: String, value: JSONText)] {
        var scanner = JSONScanner(bytes)
        return scanner.members()
    }

    /// Of an array; none where this is not one.
    var elements: [JSONText] {
        var scanner = JSONScanner(bytes)
        return scanner.elements()
    }
}

/// Finds where the values inside of a value begin and end. It reads on until something makes no sense, and then finds no
/// more; whether the text is JSON at all is for those who decode it.
private struct JSONScanner {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func members() -> [(name: String, value: JSONText)] {
        guard take("{") else { return [] }
        var members: [(name: String, value: JSONText)] = []
        while !take("}"), let name = value(), take(":"), let value = value() {
            members.append(((try? name.decoded(String.self)) ?? "", value))
            _ = take(",")
        }
        return members
    }

    mutating func elements() -> [JSONText] {
        guard take("[") else { return [] }
        var elements: [JSONText] = []
        while !take("]"), let value = value() {
            elements.append(value)
            _ = take(",")
        }
        return elements
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        rest = rest.drop(while: Self.isSpace)
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// The next value as a whole.
    private mutating func value() -> JSONText? {
        rest = rest.drop(while: Self.isSpace)
        guard let end = end() else { return nil }
        defer { rest = rest[end...] }
        return JSONText(rest[..<end])
    }

    private func end() -> Int? {
        var (depth, isString, index) = (0, false, rest.startIndex)
        while index < rest.endIndex {
            switch rest[index] {
            case UInt8(ascii: "\\") where isString:
                index += 1
            case UInt8(ascii: "\""):
                isString.toggle()
                if !isString, depth == 0 { return index + 1 }
            case _ where isString:
                break
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // The end of what a number or a word is the last value of.
                guard depth > 0 else { return index > rest.startIndex ? index : nil }
                depth -= 1
                if depth == 0 { return index + 1 }
            case UInt8(ascii: ",") where depth == 0, UInt8(ascii: ":") where depth == 0:
                return index > rest.startIndex ? index : nil
            default:
                break
            }
            index += 1
        }
        return depth == 0 && !isString && index == rest.endIndex && !rest.isEmpty ? index : nil
    }
}
