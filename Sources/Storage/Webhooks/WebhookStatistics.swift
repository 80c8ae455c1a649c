import Foundation

/// How an endpoint has answered lately, and the deliveries that wait for it.
public struct WebhookStatistics: Sendable, Equatable {
    /// The attempts of the last day; the latest ones, if they are more than `most`.
    public var attempts = 0
    /// The attempts with a 2xx.
    public var accepted = 0
    /// Seconds, of all these attempts, also without a response; nil without attempts. Half of the attempts took at most
    /// this long.
    public var medianLatency: Double?
    /// Seconds: 95 of 100 attempts took at most this long.
    public var latency95: Double?
    /// At most `mostPending` are counted.
    public var pending = 0
    /// When the event of the oldest pending delivery happened.
    public var oldestPendingAt: Date?

    /// The part of the attempts that the endpoint accepted, 0 to 1; nil without attempts.
    public var successRate: Double? { attempts == 0 ? nil : Double(accepted) / Double(attempts) }

    public init() {}

    /// - Parameter attempts: the status and the seconds of each.
    init(of attempts: [(status: Int?, latency: Double)]) {
        self.attempts = attempts.count
        accepted = attempts.count { (200..<300).contains($0.status ?? 0) }
        let latencies = attempts.map(\.latency).sorted()
        medianLatency = Self.percentile(0.5, of: latencies)
        latency95 = Self.percentile(0.95, of: latencies)
    }

    /// The nearest-rank percentile.
    private static func percentile(_ part: Double, of sorted: [Double]) -> Double? {
        sorted.isEmpty ? nil : sorted[max(0, Int((part * Double(sorted.count)).rounded(.up)) - 1)]
    }

    /// Seconds: a day.
    static let period: TimeInterval = 86_400
    static let most = 1000
    public static let mostPending = 10_000
}
