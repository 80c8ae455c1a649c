/// A request header the client asked for. Values may be secret: they are stored, sent, and never shown again.
public struct HeaderField: Sendable, Hashable, Codable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
