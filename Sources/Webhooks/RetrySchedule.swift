import Foundation

/// The times at which a delivery is attempted: at once, then after growing delays, until no delay is left.
public struct RetrySchedule: Sendable, Equatable {
    /// Seconds before each attempt, including the first. At least one element.
    public var delays: [Double]

    /// 0, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h: the example of Standard Webhooks 1.0.0.
    public static let standard = RetrySchedule(
        delays: [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])

    public init(delays: [Double]) { self.delays = delays }

    /// The time of the next attempt; nil if none is left.
    ///
    /// - Parameters:
    ///   - attempts: the number of attempts so far, including the failed one.
    ///   - floor: the earliest time that the endpoint asks for. It can lengthen a delay, but never shorten it.
    ///   - jitter: 0 to 1. Adds up to a tenth of the delay, so that deliveries that failed together are not repeated
    ///     together.
    func next(afterAttempts attempts: Int, notBefore floor: Date?, at now: Date, jitter: Double) -> Date? {
        guard attempts < delays.count else { return nil }
        return max(now.addingTimeInterval(delays[attempts] * (1 + jitter * Self.jitter)), floor ?? now)
    }

    /// The earliest time that the endpoint asks for; nil if it sent no `Retry-After`.
    ///
    /// - Parameter retryAfter: in seconds.
    func floor(retryAfter: Double?, at now: Date) -> Date? {
        retryAfter.map { now.addingTimeInterval(min($0, Self.longestRetryAfter)) }
    }

    /// The longest time between two attempts, in seconds: by the schedule, or because the endpoint asks for it.
    public var longestDelay: TimeInterval {
        max((delays.max() ?? 0) * (1 + Self.jitter), Self.longestRetryAfter)
    }

    /// The largest part of a delay that jitter adds.
    private static let jitter = 0.1

    /// Seconds: an endpoint cannot delay a delivery for longer than this.
    private static let longestRetryAfter = 86_400.0
}
