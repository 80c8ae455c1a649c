import Downloads
import Foundation
import Testing

@Suite struct RetryPolicyTests {
    private let policy = RetryPolicy()

    private func verdict(
        _ failure: Failure, failures: Int = 1, retryAfter: Double? = nil, jitter: Double = 1
    ) -> RetryPolicy.Decision {
        policy.decision(
            on: failure, waitsFor: WaitFor.defaults, failuresInARow: failures, hint: .init(retryAfter: retryAfter),
            at: Sample.now,
            jitter: jitter)
    }

    private func delay(_ verdict: RetryPolicy.Decision) -> Double? {
        guard case .wait(let wait) = verdict else { return nil }
        return wait.until?.timeIntervalSince(Sample.now)
    }

    @Test func doublesDelayUpToMaximum() {
        let lost = Failure(.connectionLost, "")
        #expect((1...7).map { delay(verdict(lost, failures: $0)) } == [1, 2, 4, 8, 16, 32, 64])
        var patient = policy
        patient.maxAttempts = 100
        let late = patient.decision(
            on: lost, waitsFor: [], failuresInARow: 60, at: Sample.now, jitter: 1)
        #expect(delay(late) == 3600)
    }

    @Test func drawsDelayDownToZero() {
        #expect(delay(verdict(Failure(.timedOut, ""), failures: 4, jitter: 0)) == 0)
        #expect(delay(verdict(Failure(.timedOut, ""), failures: 4, jitter: 0.5)) == 4)
    }

    @Test func lengthensDelayByRetryAfterButNeverShortensIt() {
        let busy = Failure(.badStatus, "", status: 503)
        #expect(delay(verdict(busy, retryAfter: 30)) == 30)
        #expect(delay(verdict(busy, failures: 7, retryAfter: 1)) == 64)
        #expect(delay(verdict(busy, retryAfter: 1e9)) == 86_400)
    }

    @Test func failsWithLastCauseAfterLastAttempt() {
        let lost = Failure(.connectionLost, "")
        #expect(verdict(lost, failures: 8) == .fail(lost))
    }

    /// A client has changed the job since the attempt began, so that the job goes on after its last attempt.
    @Test func nextAttemptAfterTheLastOneWaitsIfTheFailureMayPass() {
        func delay(_ failure: Failure, _ hint: RetryPolicy.Hint = .init()) -> Double {
            policy.nextAttempt(after: failure, failuresInARow: 8, hint: hint, at: Sample.now, jitter: 1)
                .timeIntervalSince(Sample.now)
        }
        #expect(delay(Failure(.connectionLost, "")) == 128)
        #expect(delay(Failure(.badStatus, "", status: 503), .init(retryAfter: 3600)) == 3600)
        #expect(delay(Failure(.badRange, ""), .init(mayPass: true)) == 128)
        #expect(delay(Failure(.badStatus, "", status: 404), .init(retryAfter: 3600)) == 0)
    }

    @Test func retriesFailureHintedAsTransient() {
        let hint = RetryPolicy.Hint(mayPass: true)
        func verdict(_ failures: Int) -> RetryPolicy.Decision {
            policy.decision(
                on: Failure(.badRange, ""), waitsFor: [], failuresInARow: failures, hint: hint, at: Sample.now,
                jitter: 1)
        }
        #expect(delay(verdict(1)) == 1)
        #expect(verdict(8) == .fail(Failure(.badRange, "")))
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524])
    func classifiesStatusAsTransient(_ status: Int) {
        #expect(Failure(.badStatus, "", status: status).mayPass)
    }

    @Test(arguments: [400, 401, 403, 404, 410, 418, 451, 501, 505, 525])
    func classifiesStatusAsPermanent(_ status: Int) {
        #expect(!Failure(.badStatus, "", status: status).mayPass)
        #expect(verdict(Failure(.badStatus, "", status: status)) == .fail(Failure(.badStatus, "", status: status)))
    }

    @Test func waitsForSpaceHoweverManyFailures() {
        guard case .wait(let wait) = verdict(Failure(.noSpace, ""), failures: 1000) else {
            Issue.record("a full disk must not fail a job")
            return
        }
        #expect(wait.name == .space)
    }
}
