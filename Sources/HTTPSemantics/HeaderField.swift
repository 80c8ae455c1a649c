/// A request header that a client specified. Its value may be secret: fetchd stores and sends it, and never shows it.
public struct HeaderField: Sendable, Hashable, Codable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension HeaderField {
    /// Whether the name suggests that the value is a credential. Such a value is never shown, and is encrypted in the
    /// database.
    public var isSecret: Bool {
        let name = name.lowercased()
        return ["auth", "cookie", "token", "secret", "key", "password", "credential"].contains { name.contains($0) }
    }

    /// Stands for a secret value in answers. A client that sends it back keeps the stored value.
    public static let placeholder = "[secret]"

    /// Whether the placeholder stands for the value.
    public var isRedacted: Bool { isSecret && value == Self.placeholder }

    /// The header as it may be shown.
    public var redacted: HeaderField { isSecret ? HeaderField(name: name, value: Self.placeholder) : self }
}
