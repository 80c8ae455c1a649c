import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// The journal forgets what was taken, keeps what was not, and never hides that something is missing.
@Suite struct PruningTests {
    private static let retention = Retention(acknowledged: 100, unacknowledged: 1000)

    /// A batch of one job, finished; the events are created, cancelled, finished.
    private func finishBatch(_ fixture: StoreFixture) async throws {
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        fixture.time.advance(by: 1)
        _ = try await fixture.store.finishDueBatches()
    }

    private func prune(_ fixture: StoreFixture, limit: Int = 500) async throws {
        while try await fixture.store.pruneEvents(keeping: Self.retention, limit: limit) {}
    }

    @Test(arguments: [1, 2, 500]) func whatWasAcknowledgedGoesWhenItIsOld(_ limit: Int) async throws {
        let fixture = try StoreFixture()
        try await finishBatch(fixture)
        try await fixture.store.acknowledge(.default, through: 3)
        try await finishBatch(fixture)
        fixture.time.advance(by: 90)
        try await prune(fixture, limit: limit)
        #expect(try fixture.eventTypes().count == 6)
        fixture.time.advance(by: 20)
        try await prune(fixture, limit: limit)
        #expect(try fixture.store.events(EventQuery()).events.map(\.id) == [4, 5, 6])
    }

    @Test func whatNobodyTookStaysForAMonth() async throws {
        let fixture = try StoreFixture()
        try await finishBatch(fixture)
        fixture.time.advance(by: 900)
        try await prune(fixture)
        #expect(try fixture.eventTypes().count == 3)
        fixture.time.advance(by: 200)
        try await prune(fixture)
        #expect(try fixture.eventTypes().isEmpty)
        // It is told all the same for how long nobody has acknowledged, and up to where the journal went.
        #expect(try fixture.store.session(.default).unacknowledgedSince != nil)
        #expect(try fixture.store.session(.default).lastEvent == 3)
    }

    @Test func aBatchThatItsWebhooksTookIsTaken() async throws {
        let fixture = try StoreFixture()
        let webhook = try await fixture.declareWebhook(["session.finished"])
        try await finishBatch(fixture)
        let due = try #require(try fixture.store.dueDeliveries(to: webhook.key, limit: 1).first)
        let attempt = Delivery.Attempt(
            at: fixture.time.now, status: 204, error: nil, latencySeconds: 0, response: nil)
        try await fixture.store.record(attempt, of: due, .accepted)
        fixture.time.advance(by: 200)
        try await prune(fixture)
        #expect(try fixture.eventTypes().isEmpty)
        #expect(throws: StoreError.noSuchDelivery(due.id)) { try fixture.store.delivery(due.id) }
    }

    @Test func whatIsOnItsWayStaysWithAllThatCameAfter() async throws {
        let fixture = try StoreFixture()
        let webhook = try await fixture.declareWebhook(["job.cancelled"])
        try await finishBatch(fixture)
        try await fixture.store.acknowledge(.default, through: 3)
        fixture.time.advance(by: 200)
        try await prune(fixture)
        #expect(try fixture.eventTypes() == ["job.cancelled", "session.finished"])
        #expect(try fixture.store.dueDeliveries(to: webhook.key, limit: 1).count == 1)
        // Nothing is missing behind the first that is there.
        #expect(try fixture.store.events(EventQuery(after: 1)).events.map(\.id) == [2, 3])
    }

    /// Session b was acknowledged, a was not: whoever reads both must not be sent past a's events.
    @Test func aReaderOfAllSessionsMissesNothing() async throws {
        let fixture = try StoreFixture()
        for name in ["a", "b"].map(Name.init(trusted:)) {
            _ = try await fixture.store.declareSession(name, configuration: nil)
            let job = try #require(try await fixture.create(in: name).first)
            _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        }
        fixture.time.advance(by: 1)
        _ = try await fixture.store.finishDueBatches()
        let last = try fixture.store.session(Name(trusted: "b")).lastEvent
        try await fixture.store.acknowledge(Name(trusted: "b"), through: last)
        fixture.time.advance(by: 200)
        try await prune(fixture)
        #expect(try fixture.store.events(EventQuery(after: 0)).events.count == 6)
    }

    @Test func aReaderThatComesTooLateIsToldSo() async throws {
        let fixture = try StoreFixture()
        try await finishBatch(fixture)
        try await fixture.store.acknowledge(.default, through: 3)
        fixture.time.advance(by: 200)
        try await prune(fixture)
        let gone = StoreError.eventsPruned(after: 1, firstAvailable: 4)
        #expect(throws: gone) { try fixture.store.events(EventQuery(after: 1)) }
        // Who begins at the beginning, or has read everything before, misses nothing.
        #expect(try fixture.store.events(EventQuery()).events.isEmpty)
        #expect(try fixture.store.events(EventQuery(after: 3)).nextAfter == 3)
    }

    /// What it was told to pass back is never refused, also when others had all that came last forgotten.
    @Test func aReaderPassesBackWhatItWasTold() async throws {
        let quiet = Name(trusted: "quiet")
        let fixture = try StoreFixture()
        _ = try await fixture.store.declareSession(quiet, configuration: nil)
        try await finishBatch(fixture)
        try await fixture.store.acknowledge(.default, through: 3)
        fixture.time.advance(by: 200)
        try await prune(fixture)
        for query in [EventQuery(), EventQuery(session: quiet), EventQuery(after: 0, session: quiet)] {
            let next = try fixture.store.events(query).nextAfter
            #expect(next == 3)
            #expect(try fixture.store.events(EventQuery(after: next)).nextAfter == 3)
        }
    }

    @Test func aReaderOfWhatHasNotHappenedIsRefused() async throws {
        let fixture = try StoreFixture()
        #expect(try fixture.store.events(EventQuery(after: 0)).nextAfter == 0)
        try await finishBatch(fixture)
        #expect(try fixture.store.events(EventQuery(after: 3)).events.isEmpty)
        #expect(throws: StoreError.noSuchEvent(4, last: 3)) { try fixture.store.events(EventQuery(after: 4)) }
    }

    /// Each reader is told what it missed, not what others did.
    @Test func aReaderOfOneSessionOrJobMissesOnlyItsOwn() async throws {
        let (a, b) = (Name(trusted: "a"), Name(trusted: "b"))
        let fixture = try StoreFixture()
        var jobs: [Job] = []
        for name in [a, b] {
            _ = try await fixture.store.declareSession(name, configuration: nil)
            let job = try #require(try await fixture.create(in: name).first)
            _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
            fixture.time.advance(by: 1)
            _ = try await fixture.store.finishDueBatches()
            jobs.append(job)
        }
        try await fixture.store.acknowledge(a, through: 3)
        fixture.time.advance(by: 200)
        try await prune(fixture)

        let gone = StoreError.eventsPruned(after: 0, firstAvailable: 4)
        #expect(throws: gone) { try fixture.store.events(EventQuery(after: 0)) }
        #expect(throws: gone) { try fixture.store.events(EventQuery(after: 0, session: a)) }
        #expect(throws: gone) { try fixture.store.events(EventQuery(after: 0, job: jobs[0].id)) }
        #expect(try fixture.store.events(EventQuery(after: 0, session: b)).events.map(\.id) == [4, 5, 6])
        #expect(try fixture.store.events(EventQuery(after: 0, job: jobs[1].id)).events.map(\.id) == [4, 5])
        // A job of a session that had much forgotten before the job came has lost nothing.
        let later = try #require(try await fixture.create(in: a).first)
        #expect(try fixture.store.events(EventQuery(after: 0, job: later.id)).events.count == 1)
    }
}
