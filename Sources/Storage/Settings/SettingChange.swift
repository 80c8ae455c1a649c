import Formats

/// What a change of a setting has replaced.
public struct SettingChange: Sendable, Equatable {
    public var name: String
    public var before: JSON
    public var after: JSON
    /// The stored value now; nil: the value at the start applies.
    public var stored: JSON?

    public init(name: String, before: JSON, after: JSON, stored: JSON?) {
        (self.name, self.before, self.after, self.stored) = (name, before, after, stored)
    }
}

extension SettingChange: CustomStringConvertible {
    /// `16 -> 4`. Long values are shortened.
    public var description: String { "\(Self.text(before)) -> \(Self.text(after))" }

    private static func text(_ value: JSON) -> String {
        let text = value.written
        return text.utf8.count <= 1000 ? text : text.prefix(900) + "..."
    }
}
