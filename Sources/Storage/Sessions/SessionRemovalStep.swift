import Downloads

/// A deleted session that is settled, or a part of it: large ones are forgotten in steps.
public struct SessionRemovalStep: Sendable, Equatable {
    public var session: Name
    /// Parts of its jobs, promised no longer.
    public var dropped: [PartID]
    /// Whether nothing of it is left.
    public var isGone: Bool
}
