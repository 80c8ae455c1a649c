import Downloads
import Foundation

/// How an endpoint has answered lately, and the deliveries that wait for it.
public struct WebhookStatistics: Sendable, Equatable {
    /// The attempts of the last day; the latest ones, if they are more than `most`.
    public var attempts = 0
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

    init(of attempts: [(status: Int?, latency: Double)]) {
        self.attempts = attempts.count
        accepted = attempts.count { (200..<300).contains($0.status ?? 0) }
        let latencies = attempts.map(\.latency).sorted()
        medianLatency = Self.percentile(0.5, of: latencies)
        latency95 = Self.percentile(0.95, of: latencies)
    }

    private static func percentile(_ part: Double, of sorted: [Double]) -> Double? {
        sorted.isEmpty ? nil : sorted[max(0, Int((part * Double(sorted.count)).rounded(.up)) - 1)]
    }

    /// Seconds: a day.
    static let period: TimeInterval = 86_400
    static let most = 1000
    public static let mostPending = 10_000
}

extension Store {
    /// The statistics of each webhook, in the same order.
    public func statistics(of webhooks: [Webhook]) async throws(StoreError) -> [WebhookStatistics] {
        let since = time.now.addingTimeInterval(-WebhookStatistics.period).milliseconds
        return try await read { db in try webhooks.map { try Self.statistics(of: $0.key, since: since, in: db) } }
    }

    private static func statistics(of webhook: Int64, since: Int64, in db: SQLConnection) throws -> WebhookStatistics {
        let attempts = try db.rows(latestAttempts, [webhook, since, WebhookStatistics.most])
        var statistics = WebhookStatistics(of: try attempts.map { try (status: $0[0], latency: $0[1]) })
        statistics.pending = try db.value(pendingCount, [webhook, WebhookStatistics.mostPending]) ?? 0
        statistics.oldestPendingAt = try db.time(oldestPending, [webhook])
        return statistics
    }

    static let latestAttempts = """
        SELECT status, latency_seconds FROM delivery_attempts WHERE webhook = ? AND at > ? ORDER BY at DESC LIMIT ?
        """

    static let pendingCount = """
        SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE webhook = ? AND state = 'pending' LIMIT ?) AS pending
        """

    static let oldestPending = """
        SELECT time FROM events
        WHERE id = (SELECT event FROM deliveries WHERE webhook = ? AND state = 'pending' ORDER BY event LIMIT 1)
        """
}
