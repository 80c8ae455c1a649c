import Formats
import Foundation

/// Stores domain values in columns. A row that can't be read is damage and is reported.
enum Stored {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func value<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// A value of an enumeration, from its name.
    static func named<Value: RawRepresentable<String>>(
        _ type: Value.Type, _ name: String, in column: @autoclosure () -> String
    ) throws -> Value {
        guard let value = Value(rawValue: name) else {
            throw StoreError.failed(why: "\(column()) holds '\(name)', which this version does not know")
        }
        return value
    }
}

extension SQLRow {
    func time(_ column: String) -> Date { Date(milliseconds: self[column]) }
    func optionalTime(_ column: String) -> Date? { (self[column] as Int64?).map(Date.init(milliseconds:)) }

    func decoded<Value: Decodable>(_ column: String, as type: Value.Type) throws -> Value {
        try Stored.value(type, from: self[column])
    }

    /// - Parameter default: the value of NULL.
    func decoded<Value: Decodable>(_ column: String, default: Value) throws -> Value {
        try (self[column] as String?).map { try Stored.value(Value.self, from: $0) } ?? `default`
    }

    /// A value of a closed set, stored by its name.
    func named<Value: RawRepresentable<String>>(_ column: String, as type: Value.Type) throws -> Value {
        try Stored.named(type, self[column], in: column)
    }
}
