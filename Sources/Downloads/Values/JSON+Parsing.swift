import Foundation

/// Reading JSON text with Foundation's decoder, which is strict about RFC 8259 (no comments, no trailing commas, valid
/// UTF-8) and bounds the nesting depth.
extension JSON {
    /// - Throws: `DecodingError` whose description says what is malformed, and about where.
    public init(parsing bytes: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(JSON.self, from: Data(bytes))
    }

    public init(parsing text: String) throws {
        try self.init(parsing: text.utf8)
    }
}

extension JSON: Decodable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        // The kinds that documents are mostly made of come first: a kind that does not fit costs an error value.
        if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let container = try? decoder.container(keyedBy: AnyName.self) {
            var object = JSONObject()
            for name in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
                object[name.stringValue] = try container.decode(JSON.self, forKey: name)
            }
            self = .object(object)
        } else if value.decodeNil() {
            self = .null
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else {
            self = .array(try value.decode([JSON].self))
        }
    }

    private struct AnyName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
