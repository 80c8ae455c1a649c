import Foundation

/// Time that is left, where the clock can stand still: a paused job's time limit and its part's expiry do.
public enum Countdown: Sendable, Equatable {
    /// Stands still, with so many seconds left.
    case stopped(left: TimeInterval)
    case running(until: Date)

    public func stopping(at now: Date) -> Countdown {
        switch self {
        case .stopped: self
        case .running(let until): .stopped(left: max(0, until.timeIntervalSince(now)))
        }
    }

    public func running(at now: Date) -> Countdown {
        switch self {
        case .stopped(let left): .running(until: now.addingTimeInterval(left))
        case .running: self
        }
    }

    /// When it ends; nil while it stands still.
    public var end: Date? { if case .running(let until) = self { until } else { nil } }
    /// Seconds; nil while it runs.
    public var left: TimeInterval? { if case .stopped(let left) = self { left } else { nil } }
}
