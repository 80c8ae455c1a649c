import Foundation
import Metrics

/// Metrics of one thread that runs transfers. The thread belongs to a layer that the API does not import; the
/// executable passes its metrics on.
public struct LoopMetrics: Sendable {
    /// The name of the thread, here and in `ps -L`.
    public var loop: String
    /// The longest delay of the last minute, in seconds: how long a command, a timer or a socket waited for the thread.
    public var lag: TimeInterval
    /// The durations of the thread's turns, in seconds.
    public var turns: Histogram
    /// The number of running name lookups, and of queued ones.
    public var lookups: (running: Int, queued: Int)

    public init(loop: String, lag: TimeInterval, turns: Histogram, lookups: (running: Int, queued: Int)) {
        self.loop = loop
        self.lag = lag
        self.turns = turns
        self.lookups = lookups
    }
}
