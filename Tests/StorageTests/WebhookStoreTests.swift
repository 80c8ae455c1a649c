import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Corners of the outbox that no client can steer into: answers that come late, finishes with several addressees, steps.
@Suite struct WebhookStoreTests {
    private let fixture: StoreFixture
    private var store: Store { fixture.store }

    init() throws { fixture = try StoreFixture() }

    private func declare(_ name: String, _ events: [String] = ["session.*"]) async throws -> Webhook {
        try await store.declareWebhook(
            Name(trusted: name), of: .default, url: "https://consumer/\(name)",
            events: events.map { EventPattern(trusted: $0) }, secret: nil
        ).webhook
    }

    /// A batch of one job, and its finish.
    private func finish() async throws {
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.admit()
        try await fixture.succeed(job.id)
        fixture.time.advance(by: 1)
        _ = try await store.finishDueBatches()
    }

    private func due(_ webhook: Webhook) throws -> DueDelivery {
        try #require(try store.dueDeliveries(to: webhook.key, limit: 1).first)
    }

    private func record(_ delivery: DueDelivery, _ status: Int?, _ verdict: DeliveryVerdict) async throws {
        let attempt = Delivery.Attempt(
            at: fixture.time.now, status: status, error: nil, latencySeconds: 0, response: nil)
        try await store.record(attempt, of: delivery, verdict)
    }

    private var isAcknowledged: Bool { get throws { try store.session(.default).unacknowledgedSince == nil } }

    // MARK: Late answers

    @Test func anAcceptanceCountsAfterTheWebhookIsGone() async throws {
        let webhook = try await declare("hook")
        try await finish()
        let delivery = try due(webhook)
        try await store.deleteWebhook(webhook.name, of: .default)
        #expect(try store.delivery(delivery.id).state == .cancelled)
        #expect(try !isAcknowledged)
        try await record(delivery, 204, .accepted)
        #expect(try store.delivery(delivery.id).state == .acknowledged)
        #expect(try store.delivery(delivery.id).attempts.map(\.status) == [204])
        #expect(try isAcknowledged)
    }

    @Test func anAcceptanceAfterTheWebhookWasDisabledDoesNotEnableIt() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create(2)
        let deliveries = try store.dueDeliveries(to: webhook.key, limit: 2)
        try await record(deliveries[0], 410, .gone)
        try await record(deliveries[1], 204, .accepted)
        #expect(try store.deliveries(of: webhook, limit: 2).deliveries.map(\.state) == [.acknowledged, .cancelled])
        #expect(try store.webhook(webhook.name, of: .default).state.name == .disabled)
    }

    @Test func aRejectionAfterTheDeliveryWasWithdrawnIsLoggedAndNoMore() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        let delivery = try due(webhook)
        try await store.deleteWebhook(webhook.name, of: .default)
        try await record(delivery, 500, .rejected(retryAt: fixture.time.now))
        #expect(try store.delivery(delivery.id).state == .cancelled)
        #expect(try store.delivery(delivery.id).attempts.map(\.status) == [500])
        #expect(try store.webhooksDue().keys.isEmpty)
    }

    @Test func aSecond410IsNotToldAgain() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create(2)
        for delivery in try store.dueDeliveries(to: webhook.key, limit: 2) { try await record(delivery, 410, .gone) }
        #expect(try fixture.eventTypes().filter { $0 == "webhook.disabled" }.count == 1)
    }

    // MARK: Redelivery

    @Test func aRedeliveryCountsItsTriesAnewAndKeepsTheLog() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        for _ in 1...2 { try await record(due(webhook), 500, .rejected(retryAt: fixture.time.now)) }
        #expect(try due(webhook).tries == 2)
        let id = try due(webhook).id
        #expect(try await store.redeliver(id).attempts.count == 2)
        #expect(try due(webhook).tries == 0)
        try await record(due(webhook), 500, .rejected(retryAt: fixture.time.now))
        #expect(try due(webhook).tries == 1)
        #expect(try store.delivery(id).attempts.count == 3)
    }

    /// Its verdict was reckoned from the tries that it had had when it began.
    @Test func aRejectionUnderWayDoesNotEndTheScheduleThatWasBegunAnew() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        try await record(due(webhook), 500, .rejected(retryAt: fixture.time.now))
        let last = try due(webhook)
        _ = try await store.redeliver(last.id)
        try await record(last, 500, .rejected(retryAt: nil))
        #expect(try store.delivery(last.id).state.name == .pending)
        #expect(try store.delivery(last.id).attempts.count == 2)
        #expect(try due(webhook).tries == 0)
    }

    @Test func aFinishSentAgainDoesNotTakeItsAcknowledgementBack() async throws {
        let webhook = try await declare("hook")
        try await finish()
        let delivery = try due(webhook)
        try await record(delivery, 204, .accepted)
        #expect(try isAcknowledged)
        _ = try await store.redeliver(delivery.id)
        #expect(try isAcknowledged)
        try await record(due(webhook), 500, .rejected(retryAt: nil))
        #expect(try store.delivery(delivery.id).state == .exhausted)
        #expect(try isAcknowledged)
    }

    // MARK: Acknowledgement

    @Test func aFinishThatOneOfTwoGaveUpWaitsForItsRedelivery() async throws {
        let webhooks = [try await declare("one"), try await declare("two")]
        try await finish()
        let lost = try due(webhooks[0])
        try await record(lost, 500, .rejected(retryAt: nil))
        try await record(due(webhooks[1]), 204, .accepted)
        #expect(try !isAcknowledged)
        _ = try await store.redeliver(lost.id)
        try await record(due(webhooks[0]), 204, .accepted)
        #expect(try isAcknowledged)
    }

    @Test func theCallAcknowledgesAndCancelsNothing() async throws {
        let webhook = try await declare("hook")
        try await finish()
        let delivery = try due(webhook)
        try await store.acknowledge(.default, through: delivery.event.id)
        #expect(try isAcknowledged)
        #expect(try due(webhook).id == delivery.id)
        try await record(delivery, 204, .accepted)
        #expect(try isAcknowledged)
        #expect(try store.session(.default).acknowledgedThrough == delivery.event.id)
    }

    /// Only the call moves the session's position; what webhooks take is told by the deliveries.
    @Test func anAcceptanceDoesNotMoveThePosition() async throws {
        let webhook = try await declare("hook")
        try await finish()
        try await record(due(webhook), 204, .accepted)
        #expect(try store.session(.default).acknowledgedThrough == 0)
    }

    // MARK: Recovery

    @Test func aNewcomerOwesItsAnswerToAnOpenFinishAndNoneToOneThatWasTaken() async throws {
        let first = try await declare("first")
        try await finish()
        try await record(due(first), 204, .accepted)
        try await finish()
        let second = try await declare("second")
        #expect(try await store.recoverWebhook(second.name, of: .default, after: 0).count == 2)
        try await record(due(first), 204, .accepted)
        // The second batch is addressed to the newcomer too, now.
        #expect(try !isAcknowledged)
        for _ in 1...2 { try await record(due(second), 204, .accepted) }
        #expect(try isAcknowledged)
    }

    @Test func aRecoveryGoesOnWhereItsStepEnded() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create(5)
        var (counts, position): ([Int], EventID?) = ([], 0)
        while let after = position {
            let step = try await store.recoverWebhook(webhook.name, of: .default, after: after, limit: 2)
            counts.append(step.count)
            position = step.next
        }
        #expect(counts == [2, 2, 1])
        #expect(try store.deliveries(of: webhook, limit: 10).deliveries.count == 5)
    }

    @Test func aRecoveryKeepsToItsSessionAndLeavesTestsAlone() async throws {
        _ = try await store.declareSession(Name(trusted: "other"), configuration: nil)
        _ = try await fixture.create(in: Name(trusted: "other"))
        let webhook = try await declare("hook", ["job.*", "webhook.*"])
        _ = try await store.testWebhook(webhook.name, of: .default)
        #expect(try await store.recoverWebhook(webhook.name, of: .default, after: 0).count == 0)
    }

    // MARK: Tests and secrets

    @Test func aTestIsAddressedToOneAndHoldsNoFinishBack() async throws {
        let webhooks = [try await declare("one", ["webhook.*", "session.*"]), try await declare("two", ["webhook.*"])]
        let test = try await store.testWebhook(webhooks[0].name, of: .default)
        #expect(try store.dueDeliveries(to: webhooks[1].key, limit: 10).isEmpty)
        try await record(due(webhooks[0]), 500, .rejected(retryAt: fixture.time.now.addingTimeInterval(60)))
        try await finish()
        #expect(try store.delivery(test.id).state.name == .pending)
        #expect(try due(webhooks[0]).event.type == .sessionFinished)
    }

    @Test func formerSecretsAreForgottenWithTheNextRotationAfterTheirDay() async throws {
        let webhook = try await declare("hook")
        let second = try await store.rotateSecret(of: webhook.name, of: .default, to: nil)
        fixture.time.advance(by: FormerSecret.lifetime)
        #expect(try store.webhook(webhook.name, of: .default).secrets(at: fixture.time.now) == [second.secret])
        let third = try await store.rotateSecret(of: webhook.name, of: .default, to: nil)
        #expect(third.formerSecrets.map(\.secret) == [second.secret])
        #expect(third.secrets(at: fixture.time.now) == [third.secret, second.secret])
    }
}
