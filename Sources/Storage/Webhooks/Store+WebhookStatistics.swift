import Downloads
import Foundation

extension Store {
    /// The statistics of each webhook, in the same order.
    public func statistics(of webhooks: [Webhook]) async throws(StoreError) -> [WebhookStatistics] {
        let since = time.now.addingTimeInterval(-WebhookStatistics.period).milliseconds
        return try await read { db in try webhooks.map { try Self.statistics(of: $0.key, since: since, in: db) } }
    }

    private static func statistics(of webhook: Int64, since: Int64, in db: SQLConnection) throws -> WebhookStatistics {
        let attempts = try db.rows(latestAttempts, [webhook, since, WebhookStatistics.most])
        var statistics = WebhookStatistics(of: attempts.map { (status: $0[0], latency: $0[1]) })
        statistics.pending =
            try db.value(pendingCount, [webhook, WebhookStatistics.mostPending], as: Int.self) ?? 0
        statistics.oldestPendingAt = try db.value(oldestPending, [webhook], as: Int64.self)
            .map(Date.init(milliseconds:))
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
