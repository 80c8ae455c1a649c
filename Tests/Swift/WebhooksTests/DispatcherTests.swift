import Downloads
import Formats
import Foundation
import Storage
import TestKit
import Testing

@testable import Webhooks

/// Behaviour over days, tested in moments: a real store and real sockets, with a manual clock.
@Suite struct DispatcherTests {
    private static let day: TimeInterval = 86_400

    private static func options(_ change: (inout Dispatcher.Options) -> Void) -> Dispatcher.Options {
        var options = Dispatcher.Options()
        change(&options)
        return options
    }

    // MARK: The schedule

    @Test func exhaustsDeliveryAfterTenAttemptsOverThreeDays() async throws {
        try await DispatcherFixture.open { fixture in
            fixture.receiver.answer(500)
            try await fixture.declareWebhook()
            try await fixture.happen()
            for (attempts, delay) in RetrySchedule.standard.delays.enumerated().dropFirst() {
                try await fixture.settle()
                let delivery = try #require(try await fixture.log.first)
                #expect(delivery.attempts.count == attempts)
                guard case .pending(let next) = delivery.state else {
                    Issue.record("it was given up after \(attempts) attempts")
                    return
                }
                // An exchange takes no time on the manual clock.
                let pause = next.timeIntervalSince(fixture.time.now)
                #expect(pause >= delay - 0.001 && pause <= delay * 1.1 + 0.001, "before attempt \(attempts + 1)")
                fixture.time.advance(by: delay * 1.1 + 1)
            }
            try await fixture.settle()
            #expect(try await fixture.log.map(\.state) == [.exhausted])
            #expect(try await fixture.log.first?.attempts.count == 10)
            try await fixture.pass(30 * Self.day)
            #expect(fixture.receiver.received.count == 10)
            #expect(Set(fixture.receiver.received.map(\.id)).count == 1)
            #expect(Set(fixture.receiver.received.map(\.bytes)).count == 1)
        }
    }

    @Test func attemptsNothingBeforeItIsDue() async throws {
        try await DispatcherFixture.open { fixture in
            fixture.receiver.answer(500, to: 1...1)
            try await fixture.declareWebhook()
            try await fixture.happen()
            try await fixture.pass(4.9)
            #expect(fixture.receiver.received.count == 1)
            try await fixture.pass(0.7)
            #expect(fixture.receiver.received.count == 2)
            #expect(try await fixture.log.map(\.state) == [.acknowledged])
        }
    }

    // MARK: Recovery

    @Test func sendsPendingDeliveriesAtOnceWhenEndpointRecovers() async throws {
        try await DispatcherFixture.open { fixture in
            fixture.receiver.answer(500)
            try await fixture.declareWebhook()
            for _ in 1...20 { try await fixture.happen() }
            try await fixture.pass(3600)
            fixture.receiver.answer(204)
            try await fixture.happen()
            try await fixture.settle()
            #expect(try await fixture.log.allSatisfy { $0.state == .acknowledged })
        }
    }

    /// Retry-After holds although the endpoint accepts other events meanwhile.
    @Test func waitsForRetryAfterOfEachDelivery() async throws {
        let second = Monitor((second: 0, count: 0))
        try await DispatcherFixture.open { fixture in
            let time = fixture.time
            fixture.receiver.answer { _ in
                let count = second.withLock { state in
                    let now = Int(time.now.timeIntervalSince1970)
                    state = state.second == now ? (now, state.count + 1) : (now, 1)
                    return state.count
                }
                return count <= 5
                    ? OriginAnswer(status: 204) : OriginAnswer(status: 429, headers: [("Retry-After", "60")])
            }
            fixture.receiver.answer(429, headers: [("Retry-After", "60")], to: 1...3)
            try await fixture.declareWebhook()
            for _ in 1...40 { try await fixture.happen() }
            try await fixture.pass(4 * Self.day)
            let log = try await fixture.log
            #expect(log.count { $0.state == .acknowledged } == 40)
            for times in log.map({ $0.attempts.map(\.at) }) {
                #expect(zip(times, times.dropFirst()).allSatisfy { $1.timeIntervalSince($0) > 59.9 })
            }
        }
    }

    /// An endpoint that refuses one event recovers with each of the others.
    @Test func exhaustsDeliveryOnFullScheduleDespiteOtherSuccesses() async throws {
        try await DispatcherFixture.open { fixture in
            fixture.receiver.refuse("job.created", with: 500)
            try await fixture.declareWebhook()
            let start = fixture.time.now
            try await fixture.happen()
            try await fixture.settle()
            let id = try #require(try await fixture.log.first?.id)
            func takeAnother() async throws {
                _ = try await fixture.store.testWebhook(DispatcherFixture.webhook, of: .default)
                try await fixture.settle()
            }
            for _ in 1...30 { try await takeAnother() }
            // The first attempt, and that of the first recovery.
            #expect(try await fixture.store.delivery(id).attempts.count == 2)
            while case .pending = try await fixture.store.delivery(id).state {
                fixture.time.advance(by: 1800)
                try await takeAnother()
            }
            #expect(try await fixture.store.delivery(id).state == .exhausted)
            let schedule = RetrySchedule.standard.delays.reduce(0, +)
            #expect(fixture.time.now.timeIntervalSince(start) >= schedule)
            #expect(try await fixture.webhook.state.name == .enabled)
        }
    }

    /// A delivery that was exhausted or pruned does not delay a finish.
    @Test func postsFinishWhenEarlierDeliveryIsPruned() async throws {
        try await DispatcherFixture.open { fixture in
            fixture.receiver.refuse("job.created", with: 500)
            _ = try await fixture.store.declareWebhook(
                DispatcherFixture.webhook, of: .default,
                as: WebhookDeclaration(
                    url: fixture.receiver.url,
                    events: ["job.created", "session.finished"].map { EventPattern(trusted: $0) }))
            try await fixture.happen()
            let job = try #require(try await fixture.store.jobs(JobQuery()).jobs.first)
            fixture.time.advance(by: 50)
            _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
            fixture.time.advance(by: 1)
            _ = try await fixture.store.finishDueBatches()
            try await fixture.settle()
            #expect(fixture.receiver.received.allSatisfy { $0.type == "job.created" })
            while try await fixture.store.pruneEvents(keeping: Retention(acknowledged: 10, unacknowledged: 40)) {}
            _ = try await fixture.receiver.waitFor("session.finished")
        }
    }

    // MARK: Disabling

    @Test func disablesWebhookAfterFiveDaysOfFailures() async throws {
        try await DispatcherFixture.open { fixture in
            fixture.receiver.answer(500)
            try await fixture.declareWebhook()
            for _ in 1...4 {
                try await fixture.happen()
                try await fixture.pass(Self.day)
            }
            try await fixture.pass(Self.day - 60)
            #expect(try await fixture.webhook.state.name == .enabled)
            #expect(try await fixture.log.map(\.state.name).contains(.exhausted))
            // Time alone disables no webhook: it takes one more failure.
            try await fixture.happen()
            try await fixture.pass(600)
            #expect(try await fixture.webhook.state.reason?.contains("five days") == true)
            let told = try await fixture.journal.filter { $0.type == .webhookDisabled }
            #expect(told.count == 1)
            #expect(try told.first.map { try JSON(parsing: $0.data)["webhook"] } == "receiver")
            // Pending deliveries are cancelled, and nothing more is sent.
            #expect(try await fixture.log.map(\.state.name).contains(.cancelled))
            let count = fixture.receiver.received.count
            try await fixture.happen()
            try await fixture.pass(Self.day)
            #expect(fixture.receiver.received.count == count)
        }
    }

    /// fetchd did not run for a week, and at its start the network is not ready.
    @Test func failuresAfterAWeekWithoutAnAttemptDisableNoWebhook() async throws {
        let fixture = try DispatcherFixture.closed()
        fixture.receiver.answer(500)
        try await fixture.declareWebhook()
        try await fixture.happen()
        try await fixture.whileDispatching { try await fixture.pass(3 * 3_600) }
        fixture.time.advance(by: 7 * Self.day)
        try await fixture.whileDispatching {
            try await fixture.happen()
            try await fixture.pass(1_800)
            #expect(try await fixture.webhook.state.failingSince != nil)
            // It still fails hours later, so the endpoint is the cause.
            try await fixture.pass(5 * 3_600)
            #expect(try await fixture.webhook.state.name == .disabled)
        }
        try await fixture.store.close()
    }

    @Test func restartsFiveDaysAfterOneSuccess() async throws {
        try await DispatcherFixture.open { fixture in
            fixture.receiver.answer(500)
            try await fixture.declareWebhook()
            try await fixture.happen()
            try await fixture.pass(4 * Self.day)
            #expect(try await fixture.webhook.state.failingSince != nil)
            fixture.receiver.answer(204)
            try await fixture.happen()
            try await fixture.settle()
            #expect(try await fixture.webhook.state == .enabled(failingSince: nil))
            fixture.receiver.answer(500)
            let start = fixture.time.now
            for _ in 1...4 {
                try await fixture.happen()
                try await fixture.pass(Self.day)
            }
            #expect(try await fixture.webhook.state == .enabled(failingSince: start))
            try await fixture.happen()
            try await fixture.pass(2 * Self.day)
            #expect(try await fixture.webhook.state.name == .disabled)
        }
    }

    /// A response from the former URL says nothing about the new one.
    @Test func ignores410OfFormerURL() async throws {
        let (gate, new) = (Gate(), try WebhookReceiver())
        try await DispatcherFixture.open { fixture in
            fixture.receiver.answer(410, after: gate)
            try await fixture.declareWebhook()
            try await fixture.happen()
            _ = try await fixture.receiver.waitFor(count: 1)
            try await fixture.declareWebhook(url: new.url)
            gate.open()
            let posted = try await new.waitFor("job.created")
            #expect(posted.id == fixture.receiver.received[0].id)
            try await fixture.settle()
            #expect(try await fixture.webhook.state.name == .enabled)
            #expect(try await fixture.log.map(\.state) == [.acknowledged])
            #expect(try await fixture.log.first?.attempts.map(\.status) == [410, 204])
        }
    }

    // MARK: Slow answers

    enum Slowness: CaseIterable { case silent, slowHead }

    @Test(arguments: Slowness.allCases) func cutsSlowResponseAtTimeout(_ slowness: Slowness) async throws {
        try await DispatcherFixture.open(Self.options { $0.timeout = .seconds(1) }) { fixture in
            switch slowness {
            case .silent: fixture.receiver.fallSilent(for: 1...1)
            case .slowHead:
                fixture.receiver.answer(to: 1...1) { _ in
                    var answer = OriginAnswer(status: 200)
                    answer.headByteInterval = .milliseconds(100)
                    return answer
                }
            }
            try await fixture.declareWebhook()
            try await fixture.happen()
            try await fixture.settle()
            let cut = try #require(try await fixture.log.first)
            #expect(cut.state.name == .pending)
            #expect(cut.attempts.count == 1)
            #expect(cut.attempts[0].status == nil)
            #expect(cut.attempts[0].error != nil)
            // On a busy machine, the next attempt can reach the timeout, too.
            try await fixture.pass(4 * 3600)
            #expect(try await fixture.log.map(\.state) == [.acknowledged])
        }
    }

    // MARK: Concurrency and stops

    @Test func sendsOtherDeliveriesDuringSlowResponse() async throws {
        let gate = Gate()
        try await DispatcherFixture.open { fixture in
            fixture.receiver.answer(204, to: 1...1, after: gate)
            try await fixture.declareWebhook()
            try await fixture.happen()
            #expect(await gate.reached())
            // More than the concurrency limit.
            for _ in 1...20 { try await fixture.happen() }
            _ = try await eventually("all others to be acknowledged") {
                try await fixture.log.count { $0.state == .acknowledged } == 20 ? true : nil
            }
            #expect(try await fixture.log.last?.state.name == .pending)
            gate.open()
            try await fixture.settle()
            #expect(try await fixture.log.allSatisfy { $0.state == .acknowledged })
            #expect(fixture.receiver.received.count == 21)
        }
    }

    @Test func limitsConcurrencyPerWebhook() async throws {
        let (gate, witness) = (Gate(), try WebhookReceiver())
        try await DispatcherFixture.open(Self.options { $0.concurrencyPerWebhook = 3 }) { fixture in
            fixture.receiver.answer(204, after: gate)
            try await fixture.declareWebhook()
            try await fixture.declareWebhook("witness", url: witness.url)
            for _ in 1...10 { try await fixture.happen() }
            #expect(await gate.reached(by: 3))
            // The other webhook gets every event meanwhile.
            _ = try await witness.waitFor(count: 10)
            #expect(fixture.receiver.received.count == 3)
            gate.open()
            try await fixture.settle()
            #expect(fixture.receiver.received.count == 10)
            // Deliveries start in the order of events.
            let first = try await fixture.log.suffix(3).map(\.id.text)
            #expect(Set(fixture.receiver.received.prefix(3).compactMap(\.id)) == Set(first))
        }
    }

    @Test func repeatsDeliveryInterruptedByStop() async throws {
        let fixture = try DispatcherFixture.closed()
        fixture.receiver.fallSilent(for: 1...1)
        try await fixture.declareWebhook()
        try await fixture.happen()
        try await fixture.whileDispatching { _ = try await fixture.receiver.waitFor(count: 1) }
        // It counts as not sent, as its outcome is unknown.
        #expect(try await fixture.log.map(\.state.name) == [.pending])
        #expect(try await fixture.log.first?.attempts == [])
        try await fixture.whileDispatching {
            _ = try await fixture.receiver.waitFor(count: 2)
            try await fixture.settle()
        }
        #expect(Set(fixture.receiver.received.map(\.id)).count == 1)
        #expect(try await fixture.log.map(\.state) == [.acknowledged])
    }

    @Test func redeliversWhenRequestedDuringLastAttempt() async throws {
        let gate = Gate()
        try await DispatcherFixture.open(Self.options { $0.schedule = RetrySchedule(delays: [0, 5]) }) { fixture in
            fixture.receiver.answer(500, to: 1...3)
            fixture.receiver.answer(500, to: 2...2, after: gate)
            try await fixture.declareWebhook()
            try await fixture.happen()
            try await fixture.settle()
            fixture.time.advance(by: 6)
            _ = try await fixture.receiver.waitFor(count: 2)
            let id = try #require(try await fixture.log.first?.id)
            _ = try await fixture.store.redeliver(id)
            gate.open()
            _ = try await fixture.receiver.waitFor(count: 3)
            try await fixture.settle()
            // The schedule of two attempts has started again.
            #expect(try await fixture.log.map(\.state.name) == [.pending])
            try await fixture.pass(6)
            #expect(try await fixture.log.map(\.state) == [.acknowledged])
            #expect(try await fixture.log.first?.attempts.map(\.status) == [500, 500, 500, 204])
        }
    }

    // MARK: Secrets

    @Test func signsWithOldSecretForOneDay() async throws {
        try await DispatcherFixture.open { fixture in
            func posted() async throws -> ReceivedWebhook {
                let count = fixture.receiver.received.count
                _ = try await fixture.store.testWebhook(DispatcherFixture.webhook, of: .default)
                return try await fixture.receiver.waitFor(count: count + 1)[count]
            }
            func isSigned(_ posted: ReceivedWebhook, _ secret: WebhookSecret) -> Bool {
                posted.isSigned(with: secret.text, tolerance: .infinity)
            }
            let old = try #require(try await fixture.declareWebhook().secret)
            let new = try #require(
                try await fixture.store.rotateSecret(of: DispatcherFixture.webhook, of: .default, to: nil).secret)
            fixture.time.advance(by: Self.day - 1)
            let both = try await posted()
            #expect(both.signatureCount == 2)
            #expect(isSigned(both, old) && isSigned(both, new))
            fixture.time.advance(by: 2)
            let one = try await posted()
            #expect(one.signatureCount == 1)
            #expect(isSigned(one, new) && !isSigned(one, old))
        }
    }
}
