import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Tests that a deleted session is removed only when it owes nothing.
@Suite struct InvalidationTests {
    private let films = Name(trusted: "films")

    private func fixture() async throws -> StoreFixture {
        let fixture = try StoreFixture()
        var configuration = SessionConfiguration()
        configuration.finishDelaySeconds = 3600
        _ = try await fixture.store.declareSession(films, configuration: configuration)
        return fixture
    }

    @Test func removesADeletedSessionThatOwesNothingAtOnce() async throws {
        let fixture = try await fixture()
        try await fixture.store.invalidateSession(films)
        #expect(
            try await fixture.store.removeSettledSessions() == [
                SessionRemovalStep(session: films, dropped: [], isGone: true)
            ])
        await #expect(throws: StoreError.noSuchSession(films)) { try await fixture.store.session(films) }
    }

    @Test func aDeletedSessionTakesNoMoreJobs() async throws {
        let fixture = try await fixture()
        let jobs = try await fixture.create(2, in: films)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: jobs[0].id)
        try await fixture.store.invalidateSession(films)
        await #expect(throws: StoreError.sessionFinishing(films, index: 0)) {
            try await fixture.create(in: films)
        }
        await #expect(throws: StoreError.sessionFinishing(films, index: nil)) {
            try await fixture.store.apply(.retryRequested, to: jobs[0].id)
        }
        #expect(try await fixture.store.session(films).state == .finishing)
        #expect(try await fixture.store.removeSettledSessions().isEmpty)
    }

    @Test func finishesTheBatchOfADeletedSessionWithoutDelay() async throws {
        let fixture = try await fixture()
        let jobs = try await fixture.create(2, in: films)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: jobs[0].id)
        try await fixture.store.invalidateSession(films)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: jobs[1].id)
        #expect(try await fixture.store.session(films).finishDueAt == fixture.time.now)
        #expect(try await fixture.store.finishDueBatches().map(\.counts.cancelled) == [2])
    }

    @Test func makesADelayedBatchDueWhenItsSessionIsDeleted() async throws {
        let fixture = try await fixture()
        let job = try #require(try await fixture.create(in: films).first)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        #expect(try await fixture.store.finishDueBatches().isEmpty)
        try await fixture.store.invalidateSession(films)
        #expect(try await fixture.store.removeSettledSessions().isEmpty)
        #expect(try await fixture.store.finishDueBatches().count == 1)
        #expect(try await fixture.store.removeSettledSessions().map(\.isGone) == [true])
    }

    @Test func keepsADeletedSessionWhileADeliveryIsPending() async throws {
        let fixture = try await fixture()
        let webhook = try await fixture.declareWebhook(["session.finished"], in: films)
        let job = try #require(try await fixture.create(in: films).first)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        try await fixture.store.invalidateSession(films)
        _ = try await fixture.store.finishDueBatches()
        #expect(try await fixture.store.removeSettledSessions().isEmpty)
        let due = try #require(try await fixture.store.dueDeliveries(to: webhook.key, limit: 1).first)
        let attempt = Delivery.Attempt(at: fixture.time.now, status: 500, error: nil, latencySeconds: 0, response: nil)
        try await fixture.store.record(attempt, of: due, .rejected(retryAt: nil))
        #expect(try await fixture.store.removeSettledSessions().map(\.isGone) == [true])
        // The log outlives the session.
        #expect(try await fixture.store.delivery(due.id).state == .exhausted)
    }

    @Test func removesALargeSessionInSteps() async throws {
        let fixture = try await fixture()
        let jobs = try await fixture.create(5, in: films)
        _ = try await fixture.admit()
        try await fixture.store.checkpoint([(job: jobs[4].id, admission: 1, part: StoreFixture.part())])
        for job in jobs { _ = try await fixture.store.apply(.attemptFailed(StoreFixture.failure), to: job.id) }
        try await fixture.store.invalidateSession(films)
        _ = try await fixture.store.finishDueBatches()
        let steps =
            try await fixture.store.removeSettledSessions(jobsInAStep: 2)
            + fixture.store.removeSettledSessions(jobsInAStep: 2) + fixture.store.removeSettledSessions(jobsInAStep: 2)
        #expect(steps.map(\.isGone) == [false, false, true])
        #expect(steps.flatMap(\.dropped) == [PartID("part_1")])
        #expect(try await fixture.store.jobs(JobQuery(session: films)).jobs.isEmpty)
    }

    @Test func keepsAHeldSessionUntilItIsReleased() async throws {
        let fixture = try await fixture()
        try await fixture.store.invalidateSession(films)
        #expect(try await fixture.store.removeSettledSessions(besides: { [films] }).isEmpty)
        #expect(try await fixture.store.session(films).session.isFinishing)
        #expect(try await fixture.store.removeSettledSessions().map(\.isGone) == [true])
    }

    @Test func removesManySessionsInSteps() async throws {
        let fixture = try StoreFixture()
        for index in 1...5 {
            let name = Name(trusted: "films-\(index)")
            _ = try await fixture.store.declareSession(name, configuration: nil)
            try await fixture.store.invalidateSession(name)
        }
        var counts: [Int] = []
        repeat {
            counts.append(try await fixture.store.removeSettledSessions(sessionsInAStep: 2).count)
        } while counts.last != 0
        #expect(counts == [2, 2, 1, 0])
    }

    @Test func aSessionDeclaredAgainStartsAfterTheOldEvents() async throws {
        let fixture = try await fixture()
        let job = try #require(try await fixture.create(in: films).first)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        try await fixture.store.invalidateSession(films)
        _ = try await fixture.store.finishDueBatches()
        _ = try await fixture.store.removeSettledSessions()
        let (status, isNew) = try await fixture.store.declareSession(films, configuration: nil)
        #expect(isNew)
        #expect(status.batch == 0)
        // The new session starts after the events of the old one.
        #expect(status.lastEvent == 3)
        #expect(status.acknowledgedThrough == 3)
    }

    @Test func refusesToDeleteTheDefaultSession() async throws {
        let fixture = try StoreFixture()
        await #expect(throws: StoreError.sessionPermanent(.default)) {
            try await fixture.store.invalidateSession(.default)
        }
    }
}
