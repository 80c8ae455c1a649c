import Formats

/// What a client hangs on a job or session for its own use: a JSON object, kept as text because fetchd never looks inside.
public struct Metadata: Sendable, Equatable, Codable {
    /// Bytes of JSON text: metadata travels in every webhook body of its job, and those stay under 20 kB.
    public static let limit = 8192

    private let text: String

    public init() { text = "{}" }
    public init(_ object: JSONObject) { text = JSON.object(object).written }

    public var size: Int { text.utf8.count }
    public var json: JSON { .text(text) }
    /// As members, to be changed.
    public var parsed: JSON { (try? JSON(parsing: Array(text.utf8))) ?? [:] }

    public init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
