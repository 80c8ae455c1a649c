/// Measurements of the thread of a client. All transfers share this thread, so a blocked thread blocks all of them.
public struct LoopMetricsSnapshot: Sendable, Equatable {
    /// The longest delay of the last minute: how long a command or a timer waited for its turn, and a socket for the
    /// end of a turn. It includes the current delay, so a hanging thread is visible while it hangs.
    public var lag = Duration.zero

    /// The durations of all turns since the client was created.
    public var turns = DurationHistogram()

    /// Running lookups, each on its own thread. It includes lookups that no transfer waits for any longer.
    public var lookupsRunning = 0

    /// Queued lookups: see `Options.maxLookups`.
    public var lookupsQueued = 0

    public init() {}
}
