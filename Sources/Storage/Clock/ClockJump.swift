import Formats
import Foundation

/// The wall clock advanced by more or less than the time that passed.
public struct ClockJump: Sendable, Equatable {
    /// Seconds; negative when the clock was set back.
    public var by: TimeInterval
    /// The wall-clock time after the jump.
    public var to: Date
    public var isAtStart: Bool

    /// Seconds. A smaller difference, such as a correction by NTP, is not a jump. The service follows it at once, and
    /// times that are due come earlier or later by the difference.
    public static let tolerance: TimeInterval = 60

    /// Seconds: 30 days. After a restart of the machine only stored times can show a jump. A longer absence of the
    /// service counts as one. It is the retention of unacknowledged events.
    public static let longestAbsence: TimeInterval = 30 * 86_400

}

extension ClockJump {
    /// nil when the difference is tolerated.
    init?(from expected: Date, to actual: Date, isAtStart: Bool) {
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

/// How reliable the present time is, judged by the starts and jumps of the last hour.
///
/// All times are on the present clock: a jump moves the times that were recorded before.
struct ClockConfidence: Sendable, Equatable {
    /// The start of the process or the last jump, whichever is later. Time has passed evenly since.
    var steadySince: Date
    /// The last jump; nil when there was none in the last hour.
    var jumpedAt: Date?
    /// Seconds by which the clock may be ahead, if the jumps were mistakes. Never negative: a clock that was set back
    /// delays actions and removes nothing.
    private var ahead: TimeInterval = 0

    /// - Parameter jumps: the stored jumps, oldest first, with times on the present clock.
    init(steadySince: Date, jumps: [ClockJump] = []) {
        self.steadySince = steadySince
        for jump in jumps where steadySince.timeIntervalSince(jump.to) < Self.quietPeriod {
            ahead = max(0, ahead + jump.by)
            jumpedAt = jump.to
        }
    }

    /// Seconds after a start or a jump during which no data is removed because of its age. For as long after a jump,
    /// `not_before` and `deadline` are also compared with the previous clock. An operator has this time to correct a
    /// wrong clock.
    static let quietPeriod: TimeInterval = 3600

    /// Whether data may be removed because of its age. Data that is kept for less than the quiet period is protected
    /// for that shorter time.
    func allowsRemoval(ofDataKeptFor lifetime: TimeInterval, at now: Date) -> Bool {
        now >= removalStart(forDataKeptFor: lifetime)
    }

    func removalStart(forDataKeptFor lifetime: TimeInterval) -> Date {
        steadySince.addingTimeInterval(min(lifetime, Self.quietPeriod))
    }

    /// Seconds by which the clock may be ahead. A time that a client named before `jumpedAt` counts as reached only
    /// when it was reached this much earlier.
    func doubt(at now: Date) -> TimeInterval {
        guard let jumpedAt, now.timeIntervalSince(jumpedAt) < Self.quietPeriod else { return 0 }
        return ahead
    }

    func after(_ jump: ClockJump) -> ClockConfidence {
        var confidence = self
        confidence.ahead = max(0, doubt(at: jump.to.addingTimeInterval(-jump.by)) + jump.by)
        confidence.steadySince = jump.to
        confidence.jumpedAt = jump.to
        return confidence
    }

    /// Whether a time that a client named is reached.
    ///
    /// - Parameter namedAt: when the client named it. After the last jump, clients name times on the present clock.
    func hasCome(_ moment: Date, namedAt: Date, at now: Date) -> Bool {
        guard moment <= now else { return false }
        if let jumpedAt, namedAt >= jumpedAt { return true }
        return moment <= now.addingTimeInterval(-doubt(at: now))
    }
}
