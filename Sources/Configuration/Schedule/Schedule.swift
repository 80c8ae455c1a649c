import Foundation

/// Limits of the service by hour and weekday.
///
/// A rule is active from the beginning to the end of each of its windows. For each limit, the first active rule that sets
/// it decides. Where no active rule sets a limit, the setting of the service applies.
public struct Schedule: Sendable, Equatable {
    public let rules: [ScheduleRule]

    /// The largest number of rules that a client or the configuration may give.
    public static let mostRules = 32

    public init(_ rules: [ScheduleRule] = []) { self.rules = rules }

    /// The limits at an instant, and when they change next.
    ///
    /// It looks 15 days ahead: a window of a day of the week can be missing once, where the clocks skip it.
    public func limits(at instant: Date) -> ScheduledLimits {
        guard !rules.isEmpty else { return ScheduledLimits() }
        let windows = rules.map { $0.windows(around: instant) }
        // Some windows after it are known, too, so that the last window before it does not end without a successor.
        let horizon = instant.addingTimeInterval(15 * 86_400)
        let now = limits(at: instant, windows)
        let ends = windows.joined().flatMap { [$0.lowerBound, $0.upperBound] }.filter { $0 > instant && $0 < horizon }
        let change = Set(ends).sorted().first { limits(at: $0, windows) != now }
        return ScheduledLimits(now, until: change)
    }

    /// - Parameter windows: of each rule.
    private func limits(at instant: Date, _ windows: [[Range<Date>]]) -> ScheduleLimits {
        var limits = ScheduleLimits()
        for (rule, windows) in zip(rules, windows) where windows.contains(where: { $0.contains(instant) }) {
            limits.fill(from: rule.limits)
        }
        return limits
    }
}
