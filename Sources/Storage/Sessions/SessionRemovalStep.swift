import Downloads

/// A step that removed jobs of a deleted session, and possibly the session.
public struct SessionRemovalStep: Sendable, Equatable {
    public var session: Name
    /// The parts of its jobs, which are no longer promised.
    public var dropped: [PartID]
    /// Whether the session was removed.
    public var isGone: Bool
}
