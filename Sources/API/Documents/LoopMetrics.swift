import Foundation

/// How a thread that carries transfers keeps up, for the metrics. Such threads belong to a layer that the API does not
/// know; the executable passes on what they report.
public struct LoopMetrics: Sendable {
    /// What the thread is called, here and in `ps -L`.
    public var loop: String
    /// Seconds that something waited for the thread, at worst and lately.
    public var lag: TimeInterval
    /// How many seconds its turns took.
    public var turns: Histogram
    /// Names that are being looked up, and names that wait to be.
    public var lookups: (running: Int, queued: Int)

    public init(loop: String, lag: TimeInterval, turns: Histogram, lookups: (running: Int, queued: Int)) {
        self.loop = loop
        self.lag = lag
        self.turns = turns
        self.lookups = lookups
    }
}
