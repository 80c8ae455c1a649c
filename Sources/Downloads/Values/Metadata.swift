import Formats

/// Data that a client attaches to a job or session for its own use: a JSON object, stored as text because fetchd never
/// reads it.
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
