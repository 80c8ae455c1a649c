import Downloads
import Formats
import Foundation
import TestKit
import Testing

@testable import Storage

/// Tests the outbox.
@Suite struct DeliveryStoreTests {
    private static func attempt(_ status: Int?) -> Delivery.Attempt {
        Delivery.Attempt(
            at: Date(milliseconds: 1000), status: status, error: nil, latencySeconds: 0.25, response: "body")
    }

    @Test func createsDeliveriesInTheTransactionOfTheirEvent() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.create()
        let webhook = try await fixture.declareWebhook(["job.created"])
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        let due = try await fixture.store.dueDeliveries(to: webhook.key, limit: 10)
        #expect(due.map(\.event.type) == [.jobCreated])
        #expect(due.map(\.event.job) == [job.id])
        #expect(try await fixture.store.webhooksDue().keys == [webhook.key])
    }

    @Test func holdsTheFinishBackUntilEarlierEventsAreSettled() async throws {
        let fixture = try StoreFixture()
        let webhook = try await fixture.declareWebhook()
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        fixture.time.advance(by: 1)
        _ = try await fixture.store.finishDueBatches()
        let store = fixture.store
        func due() async throws -> [DueDelivery] { try await store.dueDeliveries(to: webhook.key, limit: 10) }

        let early = try await due()
        #expect(early.map(\.event.type) == [.jobCreated, .jobCancelled])
        let later = fixture.time.now.addingTimeInterval(60)
        try await store.record(Self.attempt(500), of: early[0], .rejected(retryAt: later))
        try await store.record(Self.attempt(200), of: early[1], .accepted)
        // The success made the waiting delivery due at once. The finish still waits for it.
        #expect(try await due().map(\.event.type) == [.jobCreated])
        #expect(try await due().map(\.tries) == [1])
        fixture.time.advance(by: 60)
        try await store.record(Self.attempt(nil), of: early[0], .rejected(retryAt: nil))
        #expect(try await due().map(\.event.type) == [.sessionFinished])
    }

    /// A caller that lost the answer to its commit records the attempt again.
    @Test func storesAnAttemptOnce() async throws {
        let fixture = try StoreFixture()
        let (store, later) = (fixture.store, fixture.time.now.addingTimeInterval(60))
        let webhook = try await fixture.declareWebhook(["job.created"])
        _ = try await fixture.create()
        let due = try #require(try await store.dueDeliveries(to: webhook.key, limit: 1).first)
        try await store.record(Self.attempt(500), of: due, .rejected(retryAt: later))
        try await store.record(Self.attempt(500), of: due, .rejected(retryAt: later), mayBeStored: true)
        #expect(try await store.delivery(due.id).attempts.count == 1)
        fixture.time.advance(by: 60)
        #expect(try await store.dueDeliveries(to: webhook.key, limit: 1).first?.tries == 1)
        // Another attempt is stored.
        var second = Self.attempt(500)
        second.at = fixture.time.now
        try await store.record(second, of: due, .rejected(retryAt: later), mayBeStored: true)
        #expect(try await store.delivery(due.id).attempts.count == 2)
    }

    @Test func reportsNoDueTimeForAFinishThatIsHeldBack() async throws {
        let fixture = try StoreFixture()
        let webhook = try await fixture.declareWebhook(["job.cancelled", "session.finished"])
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        fixture.time.advance(by: 1)
        _ = try await fixture.store.finishDueBatches()
        let first = try #require(try await fixture.store.dueDeliveries(to: webhook.key, limit: 1).first)
        let later = fixture.time.now.addingTimeInterval(60)
        try await fixture.store.record(Self.attempt(500), of: first, .rejected(retryAt: later))
        let (keys, next) = try await fixture.store.webhooksDue()
        #expect(keys.isEmpty)
        #expect(next == later)
    }

    /// A finish names the first pending delivery before it, and has no time until that one is settled.
    @Test func aHeldBackFinishNamesTheDeliveryThatHoldsItBack() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let webhook = try await fixture.declareWebhook(["job.*", "session.finished"])
        let job = try #require(try await fixture.create().first)
        _ = try await store.apply(.cancelRequested(keepsPart: false), to: job.id)
        // A test holds nothing back.
        _ = try await store.testWebhook(webhook.name, of: .default)
        fixture.time.advance(by: 1)
        _ = try await store.finishDueBatches()
        func log() async throws -> [Delivery] {
            try await store.deliveries(of: webhook, limit: 10).deliveries.filter { $0.type != .webhookTest }
        }
        let ids = try await log().map(\.id)
        for settled in 0...2 {
            let finish = try await log()[0]
            // The log begins with the finish, so the earliest delivery is the last one.
            let blocker = settled == 2 ? nil : ids[2 - settled]
            #expect(finish.type == .sessionFinished && finish.blockedBy == blocker)
            #expect(try await store.delivery(finish.id) == finish)
            #expect((finish.nextAttemptAt == nil) == (blocker != nil))
            let due = try await store.dueDeliveries(to: webhook.key, limit: 10)
            for delivery in due where delivery.id == blocker {
                try await store.record(Self.attempt(204), of: delivery, .accepted)
            }
        }
        #expect(try await log().dropFirst().allSatisfy { $0.blockedBy == nil })
    }

    @Test func acknowledgesAFinishWhenAllItsWebhooksHaveAcceptedIt() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        for name in ["one", "two"] {
            _ = try await store.declareWebhook(
                Name(trusted: name), of: .default, as: WebhookDeclaration(url: "https://consumer/\(name)"))
        }
        let job = try #require(try await fixture.create().first)
        _ = try await store.apply(.cancelRequested(keepsPart: false), to: job.id)
        fixture.time.advance(by: 1)
        _ = try await store.finishDueBatches()
        for (index, webhook) in try await store.webhooks(of: .default).enumerated() {
            #expect(try await store.session(.default).unacknowledgedSince == fixture.time.now)
            let due = try #require(try await store.dueDeliveries(to: webhook.key, limit: 1).first)
            try await store.record(Self.attempt(204), of: due, .accepted)
            #expect((try await store.session(.default).unacknowledgedSince == nil) == (index == 1))
        }
    }

    @Test func logsEveryDeliveryAttempt() async throws {
        let fixture = try StoreFixture()
        let webhook = try await fixture.declareWebhook(["job.created"])
        _ = try await fixture.create()
        let due = try #require(try await fixture.store.dueDeliveries(to: webhook.key, limit: 1).first)
        for status in [500, 502] {
            try await fixture.store.record(Self.attempt(status), of: due, .rejected(retryAt: fixture.time.now))
        }
        try await fixture.store.record(Self.attempt(200), of: due, .accepted)
        let (log, next) = try await fixture.store.deliveries(of: webhook, limit: 10)
        #expect(log.map(\.state) == [.acknowledged])
        #expect(log.first?.attempts.map(\.status) == [500, 502, 200])
        #expect(log.first?.attempts.first == Self.attempt(500))
        #expect(next == nil)
    }

    @Test func disablesAWebhookAfter410AndCancelsItsDeliveries() async throws {
        let fixture = try StoreFixture()
        let webhook = try await fixture.declareWebhook(["job.created"])
        _ = try await fixture.create(2)
        let due = try #require(try await fixture.store.dueDeliveries(to: webhook.key, limit: 1).first)
        try await fixture.store.record(Self.attempt(410), of: due, .gone)
        #expect(try await fixture.store.webhook(webhook.name, of: .default).state.name == .disabled)
        #expect(
            try await fixture.store.deliveries(of: webhook, limit: 10).deliveries.map(\.state) == [
                .cancelled, .cancelled,
            ])
        _ = try await fixture.create()
        #expect(try await fixture.store.webhooksDue().keys.isEmpty)

        let again = try await fixture.declareWebhook(["job.created"])
        #expect(again.state == .enabled())
        #expect(again.secret == webhook.secret)
        _ = try await fixture.create()
        #expect(try await fixture.store.webhooksDue().keys == [webhook.key])
        try await fixture.store.deleteWebhook(webhook.name, of: .default)
        #expect(try await fixture.store.webhooksDue().keys.isEmpty)
        await #expect(throws: StoreError.noSuchWebhook(webhook.name)) {
            try await fixture.store.webhook(webhook.name, of: .default)
        }
    }

    @Test func postsTheSameBodyForTheSameEvent() async throws {
        let fixture = try StoreFixture()
        let webhook = try await fixture.declareWebhook(["job.*"])
        let job = try #require(try await fixture.create().first)
        func body() async throws -> String {
            try #require(try await fixture.store.dueDeliveries(to: webhook.key, limit: 1).first).event.posted.written
        }
        let before = try await body()
        _ = try await fixture.store.apply(.pauseRequested, to: job.id)
        #expect(try await body() == before)
        let posted = try #require(try JSON(parsing: before).objectValue)
        #expect(posted["type"] == "job.created")
        #expect(posted["data"]?.objectValue?["job"] == .string(job.id.text))
        #expect(posted["data"]?.objectValue?["url"] == "https://host/0?...")
    }
}
