/// How well a client's thread keeps up. All transfers share it, so what holds it up holds up all of them.
public struct LoopMetricsSnapshot: Sendable, Equatable {
    /// The longest that anything waited for the thread within the last minute: a command or a deadline for its turn, a
    /// socket for the end of one. What waits right now counts, so that a thread that hangs is seen while it hangs.
    public var lag = Duration.zero

    /// How long the turns took, since the client was made.
    public var turns = DurationHistogram()

    /// Names that are being looked up, each on a thread of its own; those that nobody waits for any longer, too.
    public var lookupsRunning = 0

    /// Names that wait for another's lookup to end: see `Options.maxLookups`.
    public var lookupsQueued = 0

    public init() {}
}
