/// Which events a webhook wants: a type, or all of a kind (`job.*`, `session.*`).
public struct EventPattern: Sendable, Hashable {
    public let text: String

    /// nil when no event could ever match.
    public init?(_ text: String) {
        let pattern = EventPattern(trusted: text)
        guard EventType.allCases.contains(where: pattern.matches) else { return nil }
        self = pattern
    }

    /// For a pattern that was checked when it was stored.
    public init(trusted text: String) { self.text = text }

    public func matches(_ type: EventType) -> Bool {
        text.hasSuffix(".*") ? type.rawValue.hasPrefix(text.dropLast()) : type.rawValue == text
    }
}
