import Downloads
import Formats
import Foundation
import HTTPSemantics
import TestKit
import Testing

@testable import Storage

/// Tests states of the outbox that clients can't cause directly: late answers, finishes with several webhooks, and
/// steps.
@Suite struct WebhookStoreTests {
    private let fixture: StoreFixture
    private var store: Store { fixture.store }

    init() throws { fixture = try StoreFixture() }

    private func declare(_ name: String, _ events: [String] = ["session.*"]) async throws -> Webhook {
        try await store.declareWebhook(
            Name(trusted: name), of: .default,
            as: WebhookDeclaration(
                url: "https://consumer/\(name)", events: events.map { EventPattern(trusted: $0) })
        ).webhook
    }

    /// Finishes a batch of one job.
    private func finish() async throws {
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.admit()
        try await fixture.succeed(job.id)
        fixture.time.advance(by: 1)
        _ = try await store.finishDueBatches()
    }

    private func due(_ webhook: Webhook) async throws -> DueDelivery {
        try #require(try await store.dueDeliveries(to: webhook.key, limit: 1).first)
    }

    private func record(_ delivery: DueDelivery, _ status: Int?, _ verdict: DeliveryOutcome) async throws {
        let attempt = Delivery.Attempt(
            at: fixture.time.now, status: status, error: nil, latencySeconds: 0, response: nil)
        try await store.record(attempt, of: delivery, verdict)
    }

    private var isAcknowledged: Bool {
        get async throws { try await store.session(.default).unacknowledgedSince == nil }
    }

    // MARK: Late answers

    @Test func recordsAnAcceptanceAfterTheWebhookWasDeleted() async throws {
        let webhook = try await declare("hook")
        try await finish()
        let delivery = try await due(webhook)
        try await store.deleteWebhook(webhook.name, of: .default)
        #expect(try await store.delivery(delivery.id).state == .cancelled)
        #expect(try await !isAcknowledged)
        try await record(delivery, 204, .accepted)
        #expect(try await store.delivery(delivery.id).state == .acknowledged)
        #expect(try await store.delivery(delivery.id).attempts.map(\.status) == [204])
        #expect(try await isAcknowledged)
    }

    @Test func anAcceptanceDoesNotEnableADisabledWebhook() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create(2)
        let deliveries = try await store.dueDeliveries(to: webhook.key, limit: 2)
        try await record(deliveries[0], 410, .gone)
        try await record(deliveries[1], 204, .accepted)
        #expect(
            try await store.deliveries(of: webhook, limit: 2).deliveries.map(\.state) == [.acknowledged, .cancelled])
        #expect(try await store.webhook(webhook.name, of: .default).state.name == .disabled)
    }

    @Test func onlyLogsARejectionOfACancelledDelivery() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        let delivery = try await due(webhook)
        try await store.deleteWebhook(webhook.name, of: .default)
        try await record(delivery, 500, .rejected(retryAt: fixture.time.now))
        #expect(try await store.delivery(delivery.id).state == .cancelled)
        #expect(try await store.delivery(delivery.id).attempts.map(\.status) == [500])
        #expect(try await store.webhooksDue().keys.isEmpty)
    }

    @Test func announcesWebhookDisabledOnceForTwo410() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create(2)
        for delivery in try await store.dueDeliveries(to: webhook.key, limit: 2) {
            try await record(delivery, 410, .gone)
        }
        #expect(try await fixture.eventTypes().filter { $0 == "webhook.disabled" }.count == 1)
    }

    // MARK: Before its time

    /// One rejected delivery and then an accepted one: the webhook has recovered.
    private func recover(_ retryAfter: TimeInterval, notBefore: TimeInterval? = nil) async throws -> DueDelivery {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create(2)
        let deliveries = try await store.dueDeliveries(to: webhook.key, limit: 2)
        let now = fixture.time.now
        try await record(
            deliveries[0], 503,
            .rejected(
                retryAt: now.addingTimeInterval(retryAfter), notBefore: notBefore.map(now.addingTimeInterval)))
        try await record(deliveries[1], 204, .accepted)
        return deliveries[0]
    }

    @Test func anExpeditedAttemptKeepsTheRetrySchedule() async throws {
        let time = fixture.time.now.addingTimeInterval(1000)
        let delivery = try await recover(1000)
        #expect(try await store.delivery(delivery.id).state == .pending(next: fixture.time.now))
        try await record(delivery, 503, .rejected(retryAt: nil))
        #expect(try await store.delivery(delivery.id).state == .pending(next: time))
        #expect(try await store.delivery(delivery.id).attempts.count == 2)
        fixture.time.advance(by: 1000)
        #expect(try await store.dueDeliveries(to: delivery.webhook.key, limit: 2).map(\.tries) == [1])
        try await record(delivery, 503, .rejected(retryAt: nil))
        #expect(try await store.delivery(delivery.id).state == .exhausted)
    }

    @Test func doesNotExpediteADeliveryAgainSoonAfterItFailed() async throws {
        let delivery = try await recover(1000)
        try await record(delivery, 503, .rejected(retryAt: nil))
        let pause = fixture.time.now.addingTimeInterval(300)
        _ = try await fixture.create()
        try await record(due(delivery.webhook), 204, .accepted)
        #expect(try await store.delivery(delivery.id).state == .pending(next: pause))
        // This attempt is still before its scheduled time.
        fixture.time.advance(by: 300)
        try await record(delivery, 503, .rejected(retryAt: nil))
        #expect(try await store.delivery(delivery.id).state == .pending(next: pause.addingTimeInterval(700)))
    }

    @Test func doesNotExpediteADeliveryBeforeItsRetryAfter() async throws {
        let floor = fixture.time.now.addingTimeInterval(60)
        let delivery = try await recover(1000, notBefore: 60)
        #expect(try await store.webhooksDue().next == floor)
        #expect(try await store.delivery(delivery.id).state == .pending(next: floor))
    }

    @Test func expeditesNothingAfterA2xxOfAWorkingWebhook() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create(2)
        let deliveries = try await store.dueDeliveries(to: webhook.key, limit: 2)
        try await record(deliveries[0], 204, .accepted)
        let later = fixture.time.now.addingTimeInterval(60)
        try await store.writer.write { transaction in
            try transaction.run(
                "UPDATE deliveries SET tries = 1, next_attempt_at = ? WHERE state = 'pending'", [later.milliseconds])
        }
        try await record(deliveries[0], 204, .accepted)
        #expect(try await store.webhooksDue().next == later)
    }

    @Test(arguments: [
        WebhookDeclaration(
            url: "https://consumer/hook", events: [EventPattern(trusted: "job.created")],
            headers: [HeaderField(name: "X-Key", value: "secret")]),
        WebhookDeclaration(
            url: "https://consumer/hook", events: [EventPattern(trusted: "job.created")],
            tls: TLSRule(caFile: "/ca.pem", pinnedPublicKeys: ["consumer": ["key"]], verify: false)),
    ])
    func sendsPendingDeliveriesAtOnceWithNewHeadersAndTrust(_ declaration: WebhookDeclaration) async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        try await record(due(webhook), 403, .rejected(retryAt: fixture.time.now.addingTimeInterval(1000)))
        _ = try await store.declareWebhook(webhook.name, of: .default, as: declaration)
        let due = try await due(webhook)
        #expect(due.webhook.headers == declaration.headers && due.webhook.tls == declaration.tls)
        // A declaration without them removes them.
        let bare = try await declare("hook", ["job.created"])
        #expect(bare.headers.isEmpty && bare.tls == TLSRule())
    }

    /// The last caller that declares a webhook decides where it may be posted.
    @Test func keepsTheReachOfTheLastDeclaration() async throws {
        #expect(try await declare("hook").reach == .any)
        let declaration = WebhookDeclaration(
            url: "https://consumer/hook", events: [EventPattern(trusted: "job.created")])
        for reach in [WebhookReach.public, .public, .any] {
            let webhook = try await store.declareWebhook(
                Name(trusted: "hook"), of: .default, as: declaration, reaching: reach
            ).webhook
            #expect(webhook.reach == reach)
            #expect(try await store.webhook(webhook.name, of: .default).reach == reach)
        }
        // Other changes keep it.
        _ = try await store.declareWebhook(
            Name(trusted: "hook"), of: .default, as: declaration, reaching: .public)
        #expect(try await store.rotateSecret(of: Name(trusted: "hook"), of: .default, to: nil).reach == .public)
        #expect(try await store.enableWebhook(Name(trusted: "hook"), of: .default).reach == .public)
    }

    @Test func sendsPendingDeliveriesAtOnceWithANewReach() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        try await record(due(webhook), nil, .rejected(retryAt: fixture.time.now.addingTimeInterval(1000)))
        #expect(try await store.webhooksDue().keys.isEmpty)
        let declaration = WebhookDeclaration(url: webhook.url, events: webhook.events)
        _ = try await store.declareWebhook(webhook.name, of: .default, as: declaration, reaching: .public)
        #expect(try await due(webhook).webhook.reach == .public)
    }

    @Test func sendsPendingDeliveriesAtOnceToANewAddress() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        let later = fixture.time.now.addingTimeInterval(1000)
        try await record(due(webhook), 503, .rejected(retryAt: later, notBefore: later))
        // A declaration with the same address changes nothing.
        _ = try await declare("hook", ["job.created"])
        #expect(try await store.webhooksDue().keys.isEmpty)
        _ = try await store.declareWebhook(
            webhook.name, of: .default, as: WebhookDeclaration(url: "https://elsewhere/", events: webhook.events))
        #expect(try await due(webhook).webhook.url == "https://elsewhere/")
        try await record(due(webhook), 503, .rejected(retryAt: nil))
        #expect(try await store.webhooksDue().next == later)
    }

    private static let otherEndpoints: [(WebhookDeclaration, WebhookReach)] = {
        let (url, events) = ("https://consumer/hook", [EventPattern(trusted: "job.created")])
        let key = HeaderField(name: "X-Key", value: "secret")
        return [
            (WebhookDeclaration(url: "https://elsewhere/", events: events), .any),
            (WebhookDeclaration(url: url, events: events, headers: [key]), .any),
            (WebhookDeclaration(url: url, events: events, tls: TLSRule(verify: false)), .any),
            (WebhookDeclaration(url: url, events: events), .public),
        ]
    }()

    /// The declaration came during the attempt. The old endpoint says nothing about the new one.
    @Test(arguments: Self.otherEndpoints) func doesNotCountARejectionByAFormerEndpoint(
        _ declaration: WebhookDeclaration, _ reach: WebhookReach
    ) async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        let former = try await due(webhook)
        _ = try await store.declareWebhook(webhook.name, of: .default, as: declaration, reaching: reach)
        try await record(former, nil, .rejected(retryAt: nil, notBefore: fixture.time.now.addingTimeInterval(1000)))
        #expect(try await store.webhook(webhook.name, of: .default).state == .enabled(failingSince: nil))
        #expect(try await store.delivery(former.id).attempts.count == 1)
        #expect(try await store.webhooksDue().keys == [webhook.key])
        let next = try await due(webhook)
        #expect(next.id == former.id && next.tries == 0)
        // A failure of the new endpoint counts.
        try await record(next, 500, .rejected(retryAt: nil))
        #expect(try await store.delivery(former.id).state == .exhausted)
        #expect(try await store.webhook(webhook.name, of: .default).state.failingSince != nil)
    }

    @Test(arguments: Self.otherEndpoints) func doesNotDisableAWebhookFor410OfAFormerEndpoint(
        _ declaration: WebhookDeclaration, _ reach: WebhookReach
    ) async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        let former = try await due(webhook)
        _ = try await store.declareWebhook(webhook.name, of: .default, as: declaration, reaching: reach)
        try await record(former, 410, .gone)
        #expect(try await store.webhook(webhook.name, of: .default).state == .enabled(failingSince: nil))
        #expect(try await due(webhook).id == former.id)
    }

    @Test func countsARejectionAfterTheSameDeclaration() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        let delivery = try await due(webhook)
        _ = try await declare("hook", ["job.created"])
        try await record(delivery, 500, .rejected(retryAt: nil))
        #expect(try await store.delivery(delivery.id).state == .exhausted)
    }

    @Test func sendsPendingDeliveriesAtOnceAfterEnabling() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        try await record(due(webhook), 503, .rejected(retryAt: fixture.time.now.addingTimeInterval(1000)))
        #expect(try await store.webhooksDue().keys.isEmpty)
        _ = try await store.enableWebhook(webhook.name, of: .default)
        #expect(try await store.webhooksDue().keys == [webhook.key])
    }

    @Test func signsWithTheNewestFormerSecretsOnly() async throws {
        let webhook = try await declare("hook")
        var secrets = [webhook.secret]
        for _ in 1...6 {
            secrets.append(try await store.rotateSecret(of: webhook.name, of: .default, to: nil).secret)
        }
        let signing = try await store.webhook(webhook.name, of: .default).secrets(at: fixture.time.now)
        #expect(signing == Array(secrets.reversed().prefix(5)))
    }

    // MARK: Order

    /// Failed deliveries come after those that were due before them. A finish comes before all later events.
    @Test func ordersDueDeliveriesByDueTime() async throws {
        let webhook = try await declare("hook", ["job.created", "session.finished"])
        _ = try await fixture.create(3)
        let first = try await due(webhook)
        try await record(first, 503, .rejected(retryAt: fixture.time.now.addingTimeInterval(5)))
        _ = try await fixture.create(2)
        fixture.time.advance(by: 10)
        #expect(try await store.dueDeliveries(to: webhook.key, limit: 9).map(\.event.id) == [2, 3, 4, 5, 1])
        #expect(try await store.dueDeliveries(to: webhook.key, limit: 2).map(\.event.id) == [2, 3])
    }

    // MARK: Redelivery

    @Test func aRedeliveryRestartsItsScheduleAndKeepsItsLog() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        for _ in 1...2 { try await record(due(webhook), 500, .rejected(retryAt: fixture.time.now)) }
        #expect(try await due(webhook).tries == 2)
        let id = try await due(webhook).id
        #expect(try await store.redeliver(id).attempts.count == 2)
        #expect(try await due(webhook).tries == 0)
        try await record(due(webhook), 500, .rejected(retryAt: fixture.time.now))
        #expect(try await due(webhook).tries == 1)
        #expect(try await store.delivery(id).attempts.count == 3)
    }

    /// The outcome was computed from the attempts before it began.
    @Test func aRejectionOfAnOlderRequestKeepsTheNewSchedule() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        try await record(due(webhook), 500, .rejected(retryAt: fixture.time.now))
        let last = try await due(webhook)
        _ = try await store.redeliver(last.id)
        try await record(last, 500, .rejected(retryAt: nil))
        #expect(try await store.delivery(last.id).state.name == .pending)
        #expect(try await store.delivery(last.id).attempts.count == 2)
        #expect(try await due(webhook).tries == 0)
    }

    /// The endpoint had accepted the event before the client requested it again.
    @Test func sendsADeliveryAgainThatWasRequestedDuringAnAttempt() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create()
        let first = try await due(webhook)
        _ = try await store.redeliver(first.id)
        try await record(first, 204, .accepted)
        #expect(try await store.delivery(first.id).state.name == .pending)
        try await record(due(webhook), 204, .accepted)
        #expect(try await store.delivery(first.id).state == .acknowledged)
        #expect(try await store.delivery(first.id).attempts.count == 2)
    }

    @Test func acknowledgesABatchWhenEachWebhookHasAcceptedItsFinishOnce() async throws {
        let webhooks = [try await declare("one"), try await declare("two")]
        try await finish()
        let taken = try await due(webhooks[0])
        try await record(taken, 204, .accepted)
        _ = try await store.redeliver(taken.id)
        try await record(due(webhooks[0]), 500, .rejected(retryAt: nil))
        #expect(try await !isAcknowledged)
        try await record(due(webhooks[1]), 204, .accepted)
        #expect(try await isAcknowledged)
    }

    @Test func keepsTheAcknowledgementWhenAFinishIsSentAgain() async throws {
        let webhook = try await declare("hook")
        try await finish()
        let delivery = try await due(webhook)
        try await record(delivery, 204, .accepted)
        #expect(try await isAcknowledged)
        _ = try await store.redeliver(delivery.id)
        #expect(try await isAcknowledged)
        try await record(due(webhook), 500, .rejected(retryAt: nil))
        #expect(try await store.delivery(delivery.id).state == .exhausted)
        #expect(try await isAcknowledged)
    }

    // MARK: Acknowledgement

    @Test func aFinishThatOneWebhookExhaustedStaysUnacknowledgedUntilRedelivered() async throws {
        let webhooks = [try await declare("one"), try await declare("two")]
        try await finish()
        let lost = try await due(webhooks[0])
        try await record(lost, 500, .rejected(retryAt: nil))
        try await record(due(webhooks[1]), 204, .accepted)
        #expect(try await !isAcknowledged)
        _ = try await store.redeliver(lost.id)
        try await record(due(webhooks[0]), 204, .accepted)
        #expect(try await isAcknowledged)
    }

    @Test func acknowledgingThroughTheAPICancelsNoDelivery() async throws {
        let webhook = try await declare("hook")
        try await finish()
        let delivery = try await due(webhook)
        try await store.acknowledge(.default, through: delivery.event.id)
        #expect(try await isAcknowledged)
        #expect(try await due(webhook).id == delivery.id)
        try await record(delivery, 204, .accepted)
        #expect(try await isAcknowledged)
        #expect(try await store.session(.default).acknowledgedThrough == delivery.event.id)
    }

    /// Only the call moves `acknowledged_through`. The deliveries show what webhooks have accepted.
    @Test func anAcceptanceDoesNotMoveAcknowledgedThrough() async throws {
        let webhook = try await declare("hook")
        try await finish()
        try await record(due(webhook), 204, .accepted)
        #expect(try await store.session(.default).acknowledgedThrough == 0)
    }

    // MARK: Recovery

    @Test func aRecoveredFinishIsAddressedToANewWebhookOnlyWhileUnacknowledged() async throws {
        let first = try await declare("first")
        try await finish()
        try await record(due(first), 204, .accepted)
        try await finish()
        let second = try await declare("second")
        #expect(try await store.recoverWebhook(second.name, of: .default, after: 0).count == 2)
        try await record(due(first), 204, .accepted)
        // The finish of the second batch now has a delivery for the new webhook.
        #expect(try await !isAcknowledged)
        for _ in 1...2 { try await record(due(second), 204, .accepted) }
        #expect(try await isAcknowledged)
    }

    @Test func refusesToRecoverPrunedEvents() async throws {
        let webhook = try await declare("hook", ["job.created"])
        try await finish()
        let last = try await store.session(.default).lastEvent
        try await store.acknowledge(.default, through: last)
        try await record(due(webhook), 204, .accepted)
        fixture.time.advance(by: 200)
        while try await store.pruneEvents(keeping: Retention(acknowledged: 100, unacknowledged: 1000)) {}
        await #expect(throws: StoreError.eventsPruned(after: 0, firstAvailable: last + 1)) {
            try await store.recoverWebhook(webhook.name, of: .default, after: 0)
        }
        #expect(try await store.recoverWebhook(webhook.name, of: .default, after: last).count == 0)
    }

    @Test func recoversInSteps() async throws {
        let webhook = try await declare("hook", ["job.created"])
        _ = try await fixture.create(5)
        var (counts, position): ([Int], EventID?) = ([], 0)
        while let after = position {
            let step = try await store.recoverWebhook(webhook.name, of: .default, after: after, limit: 2)
            counts.append(step.count)
            position = step.next
        }
        #expect(counts == [2, 2, 1])
        #expect(try await store.deliveries(of: webhook, limit: 10).deliveries.count == 5)
    }

    @Test func recoversOnlyEventsOfItsSessionAndNoTests() async throws {
        _ = try await store.declareSession(Name(trusted: "other"), configuration: nil)
        _ = try await fixture.create(in: Name(trusted: "other"))
        let webhook = try await declare("hook", ["job.*", "webhook.*"])
        _ = try await store.testWebhook(webhook.name, of: .default)
        #expect(try await store.recoverWebhook(webhook.name, of: .default, after: 0).count == 0)
    }

    // MARK: Tests and secrets

    @Test func sendsATestToOneWebhookWithoutHoldingAFinishBack() async throws {
        let webhooks = [try await declare("one", ["webhook.*", "session.*"]), try await declare("two", ["webhook.*"])]
        let test = try await store.testWebhook(webhooks[0].name, of: .default)
        #expect(try await store.dueDeliveries(to: webhooks[1].key, limit: 10).isEmpty)
        try await record(due(webhooks[0]), 500, .rejected(retryAt: fixture.time.now.addingTimeInterval(60)))
        try await finish()
        #expect(try await store.delivery(test.id).state.name == .pending)
        #expect(try await due(webhooks[0]).event.type == .sessionFinished)
    }

    @Test func removesExpiredSecretsAtTheNextRotation() async throws {
        let webhook = try await declare("hook")
        let second = try await store.rotateSecret(of: webhook.name, of: .default, to: nil)
        fixture.time.advance(by: FormerSecret.lifetime)
        #expect(try await store.webhook(webhook.name, of: .default).secrets(at: fixture.time.now) == [second.secret])
        let third = try await store.rotateSecret(of: webhook.name, of: .default, to: nil)
        #expect(third.formerSecrets.map(\.secret) == [second.secret])
        #expect(third.secrets(at: fixture.time.now) == [third.secret, second.secret])
    }
}
