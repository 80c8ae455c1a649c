import Formats

/// A setting whose value at the start was replaced while the service runs.
public struct StartChange: Sendable, Equatable {
    public var name: SettingName
    public var before: JSON
    public var after: JSON
    /// Whether a client has set a value, which still applies.
    public var isOverridden: Bool
}
