/// The sessions that a token is bound to: one name, or all names with a beginning (`films*`).
public struct SessionPattern: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// nil if the text is neither a name nor a name with a star at its end. A star alone is refused: a token of all
    /// sessions has no patterns.
    public init?(_ text: String) {
        let beginning = text.hasSuffix("*") ? String(text.dropLast()) : text
        guard Name(beginning) != nil else { return nil }
        self.text = text
    }

    /// For a pattern that was validated before it was stored.
    public init(trusted text: String) { self.text = text }

    public func matches(_ session: Name) -> Bool {
        beginning.map { session.text.hasPrefix($0) } ?? (session.text == text)
    }

    /// The beginning of all names that match; nil if the pattern is one name.
    public var beginning: String? { text.hasSuffix("*") ? String(text.dropLast()) : nil }

    public var description: String { text }
}
