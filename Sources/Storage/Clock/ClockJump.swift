import Formats
import Foundation

/// The wall clock advanced by more or less than the time that passed.
public struct ClockJump: Sendable, Equatable {
    /// Seconds; negative when the clock was set back.
    public var by: TimeInterval
    /// The wall-clock time after the jump.
    public var to: Date
    /// The jump happened while the service did not run.
    public var isAtStart: Bool

    public init(by: TimeInterval, to: Date, isAtStart: Bool) {
        self.by = by
        self.to = to
        self.isAtStart = isAtStart
    }

    /// Seconds. A smaller difference, such as a correction by NTP, is not a jump. The service follows it at once, and
    /// times that are due come earlier or later by the difference.
    public static let tolerance: TimeInterval = 60

    /// Seconds: 30 days. After a restart of the machine only stored times can show a jump. A longer absence of the
    /// service counts as one. It is the retention of unacknowledged events.
    public static let longestAbsence: TimeInterval = 30 * 86_400

    /// nil when the difference is tolerated.
    public init?(from expected: Date, to actual: Date, isAtStart: Bool) {
        let by = actual.seconds(since: expected)
        guard abs(by) > Self.tolerance else { return nil }
        self.init(by: by, to: actual, isAtStart: isAtStart)
    }
}

extension ClockJump: CustomStringConvertible {
    /// Such as `3653 days ahead, to 2036-11-22T04:57:20.000Z`.
    public var description: String { "\(Self.amount(abs(by))) \(by > 0 ? "ahead" : "back"), to \(to.rfc3339)" }

    private static func amount(_ seconds: TimeInterval) -> String {
        let units: [(name: String, seconds: TimeInterval)] = [("day", 86_400), ("hour", 3600), ("minute", 60)]
        let unit = units.first { seconds >= 2 * $0.seconds } ?? ("second", 1)
        return "\(Int((seconds / unit.seconds).rounded())) \(unit.name)s"
    }
}
