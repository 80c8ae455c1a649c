import Formats
import HTTPSemantics

/// A type of members that have a default. Stored documents outlive the version that wrote them, and a member that the old
/// version did not know has its default.
protocol StoredWithDefault: Decodable {
    static var missing: Self { get }
}

extension KeyedDecodingContainer {
    /// The initialisers that the compiler makes in this module call this function, because it is more special than that of
    /// the standard library.
    func decode<Value: StoredWithDefault>(_: Value.Type, forKey key: Key) throws -> Value {
        try decode(key, default: .missing)
    }

    func decode<Value: Decodable>(_ key: Key, default value: @autoclosure () -> Value) throws -> Value {
        try decodeIfPresent(Value.self, forKey: key) ?? value()
    }
}

extension Array: StoredWithDefault where Element: Decodable { static var missing: [Element] { [] } }
extension Set: StoredWithDefault where Element: Decodable { static var missing: Set<Element> { [] } }
extension Destination: StoredWithDefault { static var missing: Destination { Destination() } }
extension Metadata: StoredWithDefault { static var missing: Metadata { Metadata() } }
extension RequestMethod: StoredWithDefault { static var missing: RequestMethod { .get } }
extension Timeouts: StoredWithDefault { static var missing: Timeouts { Timeouts() } }
extension TLSRule: StoredWithDefault { static var missing: TLSRule { TLSRule() } }

/// Data that a client attaches to a job or session for its own use: a JSON object, stored as text because fetchd never reads it.
public struct Metadata: Sendable, Equatable, Codable {
    /// In bytes of JSON text. The webhook body of a terminal event contains the job's metadata, and webhook bodies stay
    /// below 20 kB.
    public static let limit = 8192

    private let text: String

    public init() { text = "{}" }
    public init(_ object: JSONObject) { text = JSON.object(object).written }

    public var size: Int { text.utf8.count }
    public var json: JSON { .text(text) }
    /// The object as members, so that a patch can change them.
    public var parsed: JSON { (try? JSON(parsing: Array(text.utf8))) ?? [:] }

    public init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// The members of jobs, sessions and webhooks that can hold secrets. fetchd encrypts them in the database.
public enum SecretMember: String, Sendable, Codable, CaseIterable {
    /// The URL or URLs: their users and queries.
    case url
    /// The headers of a job or session whose names suggest a credential, and all headers of a webhook.
    case headers
    case credentials
    /// `body`, `form` or `json`.
    case body
    /// The queries of the addresses in `checksum`.
    case checksum
    /// The user and the password of the proxy.
    case proxy
    /// The secret that signs the requests of a webhook.
    case secret
}

extension Set<SecretMember> {
    /// The names in one order: `url, headers`.
    public var listed: String { SecretMember.allCases.filter(contains).map(\.rawValue).joined(separator: ", ") }
}
