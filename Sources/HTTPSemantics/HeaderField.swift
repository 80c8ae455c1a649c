/// A request header that a client specified. Its value may be secret: fetchd stores and sends it, and never shows it.
public struct HeaderField: Sendable, Hashable, Codable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
