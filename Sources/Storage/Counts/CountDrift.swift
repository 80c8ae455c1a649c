import Downloads

/// Kept counts that were wrong.
public struct CountDrift: Sendable, Equatable, CustomStringConvertible {
    /// nil: the counts of the whole service.
    public var session: Name?
    public var kept: String
    public var counted: String

    public var description: String {
        "\(session.map { "session \($0)" } ?? "the service"): kept \(kept), counted \(counted)"
    }
}
