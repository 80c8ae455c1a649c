import Downloads
import Formats
import Foundation
import Testing

private let day: TimeInterval = 86_400
private let tenYears: TimeInterval = 3653 * day
private let start = Date(milliseconds: 1_566_228_194_000)

/// The longest delays of jobs, batches and deliveries.
@Suite struct LongestDelayTests {
    private static let waits: [(Wait.Kind, TimeInterval, TimeInterval?)] = [
        (.retry, 3600, 86_400), (.retry, 0, 86_400), (.retry, 604_800, 604_800), (.network, 604_800, 10),
        (.space, 604_800, 30), (.storage, 604_800, 30), (.credentials, 604_800, nil), (.url, 604_800, nil),
    ]

    @Test(arguments: waits) func boundsDelayOfWait(
        _ reason: Wait.Kind, _ maxSeconds: TimeInterval, _ delay: TimeInterval?
    ) {
        var policy = RetryPolicy()
        policy.maxSeconds = maxSeconds
        #expect(policy.longestDelay(of: reason) == delay)
    }

    private static let finishes: [(TimeInterval?, Bool, TimeInterval)] = [
        (nil, false, 1), (60, false, 60), (0, false, 0), (60, true, 0),
    ]

    @Test(arguments: finishes) func boundsDelayOfFinish(
        _ configured: TimeInterval?, _ isFinishing: Bool, _ delay: TimeInterval
    ) {
        var configuration = SessionConfiguration()
        configuration.finishDelaySeconds = configured
        let session = Session(
            id: .default, configuration: configuration, isFinishing: isFinishing, createdAt: start)
        #expect(session.finishDelay == delay)
    }

    private static let delays: [(TimeInterval, TimeInterval)] = [
        (5, 5), (30, 30), (31, 30), (tenYears, 30), (-5, -5),
    ]

    @Test(arguments: delays) func boundsLaterDate(_ ahead: TimeInterval, _ left: TimeInterval) {
        #expect((start + ahead).bounded(by: 30, from: start) == start + left)
    }

    /// An attempt ends, the clock is set back, and the wait is recorded after that.
    @Test func boundsWaitAfterClockIsSetBack() {
        let failure = Failure(.connectionLost, "", at: start)
        let until = start + 20
        for reason in [
            Wait.Reason.retry(until: until), .network(until: until), .space(until: until), .storage(until: until),
        ] {
            let wait = Wait(reason, cause: failure)
            #expect(wait.bounded(at: start + 1) == wait)
            #expect(wait.bounded(at: start + 1 - day).until == start + 21 - day)
            #expect(wait.bounded(at: start + tenYears) == wait)
        }
        let blocked = Wait(.credentials, cause: failure)
        #expect(blocked.bounded(at: start - day) == blocked)
        #expect(JobSignal.attemptHeldOff(blocked).bounded(at: start - day) == .attemptHeldOff(blocked))
        #expect(JobSignal.attemptDeferred(blocked).bounded(at: start - day) == .attemptDeferred(blocked))
    }

    @Test func boundsTimesOfWebhook() throws {
        let secret = WebhookSecret.random()
        let webhook = Webhook(
            key: 1, session: .default, name: .default, url: "", events: [], secret: secret,
            formerSecrets: [FormerSecret(secret, until: start + 2 * day), FormerSecret(secret, until: start + 5)],
            state: .enabled(failingSince: start + 60), createdAt: start)
        let bounded = webhook.bounded(at: start)
        #expect(bounded.formerSecrets.map(\.until) == [start + day, start + 5])
        #expect(bounded.state == .enabled(failingSince: start))
        #expect(webhook.bounded(at: start + 2 * day) == webhook)
        let moved = webhook.moved(by: -day)
        #expect(moved.formerSecrets.map(\.until) == [start + day, start + 5 - day])
        #expect(moved.state == .enabled(failingSince: start + 60 - day))
    }
}
