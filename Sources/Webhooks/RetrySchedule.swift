import Foundation

/// When a delivery is attempted: at once, then after growing delays, then never again.
public struct RetrySchedule: Sendable, Equatable {
    /// Seconds before each attempt, the first one included; at least one.
    public var delays: [Double]

    /// 0, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h: the example of Standard Webhooks 1.0.0.
    public static let standard = RetrySchedule(
        delays: [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])

    public init(delays: [Double]) { self.delays = delays }

    /// When the next attempt is due; nil when none is left.
    ///
    /// - Parameters:
    ///   - attempts: attempts had, the failed one included.
    ///   - floor: the earliest moment that the endpoint asks for. It lengthens a delay, and never shortens it.
    ///   - jitter: 0 to 1; up to a tenth is added, so that deliveries that failed together do not come back together.
    func next(afterAttempts attempts: Int, notBefore floor: Date?, at now: Date, jitter: Double) -> Date? {
        guard attempts < delays.count else { return nil }
        return max(now.addingTimeInterval(delays[attempts] * (1 + jitter * Self.jitter)), floor ?? now)
    }

    /// The earliest next attempt that the endpoint asks for; nil when it sends no Retry-After.
    ///
    /// - Parameter retryAfter: in seconds.
    func floor(retryAfter: Double?, at now: Date) -> Date? {
        retryAfter.map { now.addingTimeInterval(min($0, Self.longestRetryAfter)) }
    }

    /// Seconds between two attempts, at most: by the schedule, or because the endpoint asks for it.
    public var longestDelay: TimeInterval {
        max((delays.max() ?? 0) * (1 + Self.jitter), Self.longestRetryAfter)
    }

    /// Of a delay, at most.
    private static let jitter = 0.1

    /// Seconds: an endpoint cannot put a delivery off for longer than this.
    private static let longestRetryAfter = 86_400.0
}
