import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Tests that the journal prunes acknowledged events, keeps others, and reports every gap.
@Suite struct PruningTests {
    private static let retention = Retention(acknowledged: 100, unacknowledged: 1000)

    /// Finishes a batch of one job, with the events created, cancelled and finished.
    private func finishBatch(_ fixture: StoreFixture) async throws {
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        fixture.time.advance(by: 1)
        _ = try await fixture.store.finishDueBatches()
    }

    private func prune(_ fixture: StoreFixture, limit: Int = 500) async throws {
        while try await fixture.store.pruneEvents(keeping: Self.retention, limit: limit) {}
    }

    @Test(arguments: [1, 2, 500]) func prunesAcknowledgedEventsAfterTheirRetention(_ limit: Int) async throws {
        let fixture = try StoreFixture()
        try await finishBatch(fixture)
        try await fixture.store.acknowledge(.default, through: 3)
        try await finishBatch(fixture)
        fixture.time.advance(by: 90)
        try await prune(fixture, limit: limit)
        #expect(try await fixture.eventTypes().count == 6)
        fixture.time.advance(by: 20)
        try await prune(fixture, limit: limit)
        #expect(try await fixture.store.events(EventQuery()).events.map(\.id) == [4, 5, 6])
    }

    /// The writer can be busy for long, for example while another node commits.
    @Test func keepsEventsUnderARetentionThatChangesBeforeTheWrite() async throws {
        let fixture = try StoreFixture()
        try await finishBatch(fixture)
        fixture.time.advance(by: 2000)
        let (store, gate, retention) = (fixture.store, Gate(), Monitor(Self.retention))
        let none = AdmissionLimits(jobs: 0, connectionsPerHost: 100)
        async let busy = store.admitJobs(none) { _ in gate.pass() }
        await gate.reached()
        async let pruned = store.pruneEvents(keeping: { retention.current })
        retention.withLock { $0 = Retention(acknowledged: 10_000, unacknowledged: 10_000) }
        gate.open()
        _ = try await (busy, pruned)
        #expect(try await fixture.eventTypes().count == 3)
    }

    @Test func keepsUnacknowledgedEventsForAMonth() async throws {
        let fixture = try StoreFixture()
        var configuration = SessionConfiguration()
        configuration.acknowledgement = .expected
        _ = try await fixture.store.declareSession(.default, configuration: configuration)
        try await finishBatch(fixture)
        fixture.time.advance(by: 900)
        try await prune(fixture)
        #expect(try await fixture.eventTypes().count == 3)
        fixture.time.advance(by: 200)
        try await prune(fixture)
        #expect(try await fixture.eventTypes().isEmpty)
        // The session still reports since when its finish is unacknowledged, and its last event.
        #expect(try await fixture.store.session(.default).unacknowledgedSince != nil)
        #expect(try await fixture.store.session(.default).lastEvent == 3)
    }

    @Test func prunesEventsThatWebhooksHaveAcknowledged() async throws {
        let fixture = try StoreFixture()
        let webhook = try await fixture.declareWebhook(["session.finished"])
        try await finishBatch(fixture)
        let due = try #require(try await fixture.store.dueDeliveries(to: webhook.key, limit: 1).first)
        let attempt = Delivery.Attempt(
            at: fixture.time.now, status: 204, error: nil, latencySeconds: 0, response: nil)
        try await fixture.store.record(attempt, of: due, .accepted)
        fixture.time.advance(by: 200)
        try await prune(fixture)
        #expect(try await fixture.eventTypes().isEmpty)
        await #expect(throws: StoreError.noSuchDelivery(due.id)) { try await fixture.store.delivery(due.id) }
    }

    @Test func keepsEventsWithPendingDeliveriesAndAllLaterEvents() async throws {
        let fixture = try StoreFixture()
        let webhook = try await fixture.declareWebhook(["job.cancelled"])
        try await finishBatch(fixture)
        try await fixture.store.acknowledge(.default, through: 3)
        fixture.time.advance(by: 200)
        try await prune(fixture)
        #expect(try await fixture.eventTypes() == ["job.cancelled", "session.finished"])
        #expect(try await fixture.store.dueDeliveries(to: webhook.key, limit: 1).count == 1)
        // No event is missing after the first one that is left.
        #expect(try await fixture.store.events(EventQuery(after: 1)).events.map(\.id) == [2, 3])
    }

    /// Session b is acknowledged and session a is not. A reader of both must get the events of a.
    @Test func keepsEventsOfOneSessionForReadersOfAllSessions() async throws {
        let fixture = try StoreFixture()
        for name in ["a", "b"].map(Name.init(trusted:)) {
            _ = try await fixture.store.declareSession(name, configuration: nil)
            let job = try #require(try await fixture.create(in: name).first)
            _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        }
        fixture.time.advance(by: 1)
        _ = try await fixture.store.finishDueBatches()
        let last = try await fixture.store.session(Name(trusted: "b")).lastEvent
        try await fixture.store.acknowledge(Name(trusted: "b"), through: last)
        fixture.time.advance(by: 200)
        try await prune(fixture)
        #expect(try await fixture.store.events(EventQuery(after: 0)).events.count == 6)
    }

    @Test func reportsPrunedEventsToALateReader() async throws {
        let fixture = try StoreFixture()
        try await finishBatch(fixture)
        try await fixture.store.acknowledge(.default, through: 3)
        fixture.time.advance(by: 200)
        try await prune(fixture)
        let gone = StoreError.eventsPruned(after: 1, firstAvailable: 4)
        await #expect(throws: gone) { try await fixture.store.events(EventQuery(after: 1)) }
        // A reader without a cursor, or with the cursor of the last event, misses nothing.
        #expect(try await fixture.store.events(EventQuery()).events.isEmpty)
        #expect(try await fixture.store.events(EventQuery(after: 3)).nextAfter == 3)
    }

    /// The cursor of a page is never refused, also if all later events of other sessions were pruned.
    @Test func neverRefusesTheCursorOfThePreviousPage() async throws {
        let quiet = Name(trusted: "quiet")
        let fixture = try StoreFixture()
        _ = try await fixture.store.declareSession(quiet, configuration: nil)
        try await finishBatch(fixture)
        try await fixture.store.acknowledge(.default, through: 3)
        fixture.time.advance(by: 200)
        try await prune(fixture)
        for query in [EventQuery(), EventQuery(session: quiet), EventQuery(after: 0, session: quiet)] {
            let next = try await fixture.store.events(query).nextAfter
            #expect(next == 3)
            #expect(try await fixture.store.events(EventQuery(after: next)).nextAfter == 3)
        }
    }

    @Test func refusesACursorAboveTheLastEvent() async throws {
        let fixture = try StoreFixture()
        #expect(try await fixture.store.events(EventQuery(after: 0)).nextAfter == 0)
        try await finishBatch(fixture)
        #expect(try await fixture.store.events(EventQuery(after: 3)).events.isEmpty)
        await #expect(throws: StoreError.noSuchEvent(4, last: 3)) {
            try await fixture.store.events(EventQuery(after: 4))
        }
    }

    /// Each reader learns only of its own missing events.
    @Test func reportsPrunedEventsOnlyToReadersOfTheirSessionOrJob() async throws {
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
        await #expect(throws: gone) { try await fixture.store.events(EventQuery(after: 0)) }
        await #expect(throws: gone) { try await fixture.store.events(EventQuery(after: 0, session: a)) }
        await #expect(throws: gone) { try await fixture.store.events(EventQuery(after: 0, job: jobs[0].id)) }
        #expect(try await fixture.store.events(EventQuery(after: 0, session: b)).events.map(\.id) == [4, 5, 6])
        #expect(try await fixture.store.events(EventQuery(after: 0, job: jobs[1].id)).events.map(\.id) == [4, 5])
        // Events of the session that were pruned before the job existed don't matter to its reader.
        let later = try #require(try await fixture.create(in: a).first)
        #expect(try await fixture.store.events(EventQuery(after: 0, job: later.id)).events.count == 1)
    }
}
