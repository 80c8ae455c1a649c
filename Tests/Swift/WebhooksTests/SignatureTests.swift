import Downloads
import Formats
import Foundation
import Testing

@testable import Webhooks

@Suite struct SignatureTests {
    /// The example of the Standard Webhooks specification, 1.0.0.
    @Test func signsLikeExampleOfStandardWebhooks() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signature = WebhookSignature.sign(
            id: DeliveryID("msg_p5jXN8AQM9LWM0D4loKWxJek"), timestamp: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8), with: [secret])
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func signsIDTimestampAndBody() {
        let secret = WebhookSecret.random()
        func sign(_ id: String = "a", _ timestamp: Int64 = 1, _ body: String = "b") -> String {
            WebhookSignature.sign(id: DeliveryID(id), timestamp: timestamp, body: Array(body.utf8), with: [secret])
        }
        #expect(sign() == sign())
        #expect(Set([sign(), sign("x"), sign("a", 2), sign("a", 1, "x")]).count == 4)
    }
}

@Suite struct RetryScheduleTests {
    private let now = Date(milliseconds: 1_000_000)

    private func delay(_ attempts: Int, retryAfter: Double? = nil, jitter: Double = 0) -> Double? {
        let schedule = RetrySchedule.standard
        let floor = schedule.floor(retryAfter: retryAfter, at: now)
        return schedule.next(afterAttempts: attempts, notBefore: floor, at: now, jitter: jitter)
            .map { $0.timeIntervalSince(now) }
    }

    @Test func schedulesTenAttempts() {
        let delays = (1...10).map { delay($0) }
        #expect(delays == [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, nil])
    }

    @Test func lengthensDelayByRetryAfterButNeverShortensIt() {
        #expect(delay(1, retryAfter: 60) == 60)
        #expect(delay(2, retryAfter: 60) == 300)
        #expect(delay(1, retryAfter: 1e9) == 86_400)
    }

    @Test func addsAtMostTenthAsJitter() {
        #expect(delay(2, jitter: 1) == 330)
    }
}
