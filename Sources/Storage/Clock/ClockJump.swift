import Formats
import Foundation

/// The wall clock went on by more, or by less, than time had skipped.
public struct ClockJump: Sendable, Equatable {
    /// Seconds; negative when the clock was set back.
    public var by: TimeInterval
    /// What the clock showed afterwards.
    public var to: Date
    /// It happened while the service did not run.
    public var isAtStart: Bool

    public init(by: TimeInterval, to: Date, isAtStart: Bool) {
        self.by = by
        self.to = to
        self.isAtStart = isAtStart
    }

    /// Seconds: a difference of up to this is no jump. It is followed at once, and what is due comes earlier or later by
    /// as much. NTP's corrections are such.
    public static let tolerance: TimeInterval = 60

    /// Seconds: 30 days. Where only the stored times can tell (the machine was restarted), a longer absence of the service
    /// counts as a jump. It is how long the journal keeps what nobody took.
    public static let longestAbsence: TimeInterval = 30 * 86_400

    /// nil where the difference is tolerated.
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
