import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Which finishes wait for an acknowledgement: those of a session with a consumer that can give it, or that expects it.
@Suite struct AcknowledgementTests {
    private let fixture: StoreFixture
    private let films = Name(trusted: "films")

    init() async throws {
        fixture = try StoreFixture()
        _ = try await fixture.store.declareSession(films, configuration: nil)
    }

    /// Finishes a batch, and returns the event.
    @discardableResult
    private func finish() async throws -> EventID {
        for job in try await fixture.create(in: films) {
            _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        }
        fixture.time.advance(by: 2)
        let finished = try await fixture.store.finishDueBatches()
        guard case .finished(let event) = finished.first?.state else { throw StoreError.busy }
        return event
    }

    private func expect(_ acknowledgement: Acknowledgement?) async throws {
        var configuration = SessionConfiguration()
        configuration.acknowledgement = acknowledgement
        _ = try await fixture.store.declareSession(films, configuration: configuration)
    }

    /// The finishes that are awaited: of the session, and as they are counted.
    private func awaited() async throws -> [EventID] {
        #expect(try await fixture.store.compareCounts().drifts.isEmpty)
        let events = try await fixture.store.read { db in
            try db.rows(
                "SELECT finish_event FROM batches WHERE state = 'finished' AND is_awaited = 1 ORDER BY finish_event"
            ).map { try $0["finish_event"] as EventID }
        }
        #expect(try await fixture.store.statistics().unacknowledgedFinishes == events.count)
        let since = try await fixture.store.session(films).unacknowledgedSince
        #expect((since == nil) == events.isEmpty)
        #expect(try await fixture.store.unacknowledgedFinishes().map(\.event) == Array(events.prefix(1)))
        return events
    }

    @Test func nothingIsAwaitedWithoutAConsumer() async throws {
        try await finish()
        #expect(try await awaited().isEmpty)
    }

    @Test func aWebhookIsAConsumerFromItsDeclarationOn() async throws {
        try await finish()
        let webhook = try await fixture.declareWebhook(in: films)
        #expect(try await awaited().isEmpty)
        let second = try await finish()
        #expect(try await awaited() == [second])
        // The program that declared it may come back.
        try await fixture.store.deleteWebhook(webhook.name, of: films)
        let third = try await finish()
        #expect(try await awaited() == [second, third])
    }

    @Test func aClientThatAcknowledgesIsAConsumerOfTheLaterFinishes() async throws {
        let events = [try await finish(), try await finish(), try await finish()]
        try await fixture.store.acknowledge(films, through: events[0])
        #expect(try await awaited() == Array(events[1...]))
        try await fixture.store.acknowledge(films, through: events[2])
        #expect(try await awaited().isEmpty)
        let fourth = try await finish()
        #expect(try await awaited() == [fourth])
    }

    @Test func theSessionDecidesWhereItSays() async throws {
        try await expect(.expected)
        let first = try await finish()
        #expect(try await awaited() == [first])
        try await expect(.unexpected)
        #expect(try await awaited().isEmpty)
        try await fixture.store.acknowledge(films, through: 0)
        let second = try await finish()
        #expect(try await awaited().isEmpty)
        // Derived: a client has acknowledged.
        try await expect(nil)
        #expect(try await awaited() == [first, second])
        try await fixture.store.acknowledge(films, through: second)
        #expect(try await awaited().isEmpty)
    }

    @Test func aDeliveryAcknowledgesAFinishThatNothingAwaited() async throws {
        try await finish()
        let webhook = try await fixture.declareWebhook(["session.*"], in: films)
        _ = try await fixture.store.recoverWebhook(webhook.name, of: films, after: 0)
        let due = try #require(try await fixture.store.dueDeliveries(to: webhook.key, limit: 1).first)
        let attempt = Delivery.Attempt(at: fixture.time.now, status: 204, error: nil, latencySeconds: 0, response: nil)
        try await fixture.store.record(attempt, of: due, .accepted)
        #expect(try await awaited().isEmpty)
        try await expect(.expected)
        #expect(try await awaited().isEmpty)
    }

    @Test func aFinishIsReportedOnce() async throws {
        try await expect(.expected)
        let events = [try await finish(), try await finish()]
        let waiting = try await fixture.store.unreportedFinishes()
        #expect(waiting.map(\.event) == events)
        #expect(try await fixture.store.unreportedFinishes(limit: 1).map(\.event) == [events[0]])
        try await fixture.store.acknowledge(films, through: events[0])
        #expect(try await fixture.store.reportFinishes(waiting) == [waiting[1]])
        #expect(try await fixture.store.reportFinishes(waiting).isEmpty)
        #expect(try await fixture.store.unreportedFinishes().isEmpty)
        #expect(try await awaited() == [events[1]])
    }

    // MARK: Changes of sessions

    @Test func eachChangeHasARevisionOfItsOwn() async throws {
        let store = fixture.store
        let first = try await store.session(films).session
        var configuration = first.configuration
        // The same configuration again is no change.
        _ = try await store.declareSession(films, configuration: configuration)
        #expect(try await store.session(films).session == first)
        configuration.maxConcurrentJobs = 3
        let note = AuditNote(
            caller: nil, name: nil, address: "127.0.0.1", action: "PATCH /v1/sessions/{session}", target: "films")
        _ = try await store.changeSession(first, to: first.configuration, audit: note)
        let second = try #require(try await store.changeSession(first, to: configuration, audit: note)).session
        #expect(try await store.audit(after: 0, limit: 10).map(\.note.target) == ["films"])
        #expect(second.revision == first.revision + 1 && second.configuration == configuration)
        // It was changed since.
        configuration.maxConcurrentJobs = 4
        #expect(try await store.changeSession(first, to: configuration) == nil)
        await #expect(throws: StoreError.sessionChanged(films, now: second.revision)) {
            try await store.declareSession(films, configuration: nil, expecting: .revision(first.revision))
        }
        _ = try await store.declareSession(films, configuration: configuration, expecting: .revision(second.revision))
        _ = try await store.declareSession(films, configuration: configuration, expecting: .existence)
        #expect(try await store.session(films).session.revision == second.revision + 1)
        // A session of the same name is another one.
        try await store.invalidateSession(films)
        while try await !store.removeSettledSessions().isEmpty {}
        await #expect(throws: StoreError.sessionChanged(films, now: nil)) {
            try await store.declareSession(films, configuration: configuration, expecting: .existence)
        }
        await #expect(throws: StoreError.noSuchSession(films)) {
            try await store.changeSession(second, to: configuration)
        }
        fixture.time.advance(by: 1)
        let other = try await store.declareSession(films, configuration: nil).status.session
        #expect(other.revision > second.revision + 1)
    }
}
