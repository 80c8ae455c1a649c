import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// The statistics of an endpoint: of its attempts within a day, and of its pending deliveries.
@Suite struct WebhookStatisticsTests {
    private static let percentiles: [([Double], Double?, Double?)] = [
        ([], nil, nil), ([3], 3, 3), ([1, 2], 1, 2), ([3, 1, 2], 2, 3), ((1...100).map(Double.init), 50, 95),
        (Array(repeating: 1, count: 19) + [7], 1, 1), (Array(repeating: 1, count: 18) + [7, 7], 1, 7),
    ]

    @Test(arguments: percentiles)
    func percentilesHaveTheNearestRank(_ latencies: [Double], _ median: Double?, _ p95: Double?) {
        let statistics = WebhookStatistics(of: latencies.map { (status: 204, latency: $0) })
        #expect(statistics.medianLatency == median && statistics.latency95 == p95)
    }

    private static let rates: [([Int?], Double?)] = [
        ([], nil), ([204], 1), ([500], 0), ([nil], 0), ([200, 299, 300, 199], 0.5),
    ]

    @Test(arguments: rates)
    func only2xxIsASuccess(_ statuses: [Int?], _ rate: Double?) {
        let statistics = WebhookStatistics(of: statuses.map { (status: $0, latency: 1) })
        #expect(statistics.successRate == rate && statistics.attempts == statuses.count)
    }

    @Test func countsAttemptsOfADayAndPendingDeliveries() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let webhook = try await fixture.declareWebhook(["job.created"])
        #expect(try await store.statistics(of: [webhook]) == [WebhookStatistics()])
        let created = fixture.time.now
        _ = try await fixture.create(3)
        let due = try await store.dueDeliveries(to: webhook.key, limit: 3)
        func record(_ index: Int, _ status: Int, _ verdict: DeliveryOutcome) async throws {
            let attempt = Delivery.Attempt(
                at: fixture.time.now, status: status, error: nil, latencySeconds: 0.5, response: nil)
            try await store.record(attempt, of: due[index], verdict)
        }
        try await record(0, 503, .rejected(retryAt: fixture.time.now.addingTimeInterval(1000)))
        fixture.time.advance(by: 3600)
        try await record(0, 204, .accepted)
        try await record(1, 204, .accepted)
        let other = try await store.declareWebhook(
            Name(trusted: "other"), of: .default, as: WebhookDeclaration(url: "https://other/")
        ).webhook
        var statistics = try await store.statistics(of: [other, webhook])
        #expect(statistics[0] == WebhookStatistics())
        #expect(statistics[1].attempts == 3 && statistics[1].accepted == 2)
        #expect(statistics[1].medianLatency == 0.5 && statistics[1].latency95 == 0.5)
        #expect(statistics[1].pending == 1 && statistics[1].oldestPendingAt == created)
        // The first attempt is older than a day now.
        fixture.time.advance(by: 86_400 - 1)
        statistics = try await store.statistics(of: [webhook])
        #expect(statistics[0].attempts == 2 && statistics[0].successRate == 1)
        #expect(statistics[0].pending == 1)
    }
}
