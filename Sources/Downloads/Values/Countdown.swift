import Foundation

/// The remaining time of a countdown that can be stopped: the time limit of a job, and the expiry of its part, stop
/// while the job is paused.
public enum Countdown: Sendable, Equatable {
    /// The countdown is stopped, with this number of seconds left.
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

    /// The end of the countdown; nil while it is stopped.
    public var end: Date? { if case .running(let until) = self { until } else { nil } }
    /// The remaining seconds; nil while the countdown runs.
    public var left: TimeInterval? { if case .stopped(let left) = self { left } else { nil } }
}
