import Downloads
import HTTPTypes
import Testing

@testable import API

@Suite struct QuotaProblemTests {
    @Test func bucketHoldsTheRequestsOfASecond() {
        var bucket = TokenBucket(limit: 2, at: .seconds(10))
        func take(_ milliseconds: Int) -> Double? { bucket.take(limit: 2, at: .milliseconds(milliseconds)) }
        #expect(take(10_000) == nil)
        #expect(take(10_000) == nil)
        #expect(take(10_000) == 0.5)
        #expect(take(10_250) == 0.25)
        #expect(take(10_500) == nil)
        #expect(take(10_500) == 0.5)
        // After a long pause, it is full and not more than full.
        #expect(take(99_000) == nil)
        #expect(take(99_000) == nil)
        #expect(take(99_000) == 0.5)
    }

    @Test(arguments: [
        (
            ExceededQuota.outstandingJobs(limit: 100, left: 2, requested: 5), "30", "\"outstanding-jobs\";q=100",
            "r=2;t=30"
        ),
        (
            .bytesPerDay(limit: 5_000_000_000, seconds: 3600), "3600", "\"bytes-per-day\";q=5000000000;w=86400",
            "r=0;t=3600"
        ),
        (.requestsPerSecond(limit: 3, seconds: 0.3), "1", "\"requests-per-second\";q=3;w=1", "r=0;t=1"),
    ])
    func problemNamesQuotaInFields(_ quota: ExceededQuota, _ after: String, _ policy: String, _ left: String) {
        let problem = Problem(quota)
        #expect(problem.kind == .quotaExceeded && problem.kind.status.code == 429)
        #expect(problem.headers[.retryAfter] == after)
        #expect(problem.headers[.rateLimitPolicy] == policy)
        #expect(problem.headers[.rateLimit]?.hasSuffix(";" + left) == true)
    }
}
