/// The events that a webhook receives: one type, or all types of a kind (`job.*`, `session.*`).
public struct EventPattern: Sendable, Hashable {
    public let text: String

    /// nil if the pattern matches no event type.
    public init?(_ text: String) {
        let pattern = EventPattern(trusted: text)
        guard EventType.allCases.contains(where: pattern.matches) else { return nil }
        self = pattern
    }

    /// For a pattern that was validated before it was stored.
    public init(trusted text: String) { self.text = text }

    public func matches(_ type: EventType) -> Bool {
        text.hasSuffix(".*") ? type.rawValue.hasPrefix(text.dropLast()) : type.rawValue == text
    }
}
