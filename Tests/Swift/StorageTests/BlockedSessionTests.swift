import Downloads
import Formats
import Foundation
import TestKit
import Testing

@testable import HTTPSemantics
@testable import Storage

/// Tests that `session.waiting` is appended once when a session blocks, and never while a job can run.
@Suite struct BlockedSessionTests {
    private static let expired = Wait(.url, cause: Failure(.linkExpired, "403", status: 403))
    private static let challenged = Wait(
        .credentials,
        cause: Failure(
            .credentialsRequired, "401", status: 401, challenge: Challenge(scheme: "basic", realm: "films")))

    private func calls(_ fixture: StoreFixture) async throws -> [JSON] {
        try await fixture.store.events(EventQuery(types: [EventPattern(trusted: "session.waiting")])).events
            .map { try JSON(parsing: $0.data) }
    }

    @Test func announcesSessionWaitingWhenTheLastJobBlocks() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(2)
        _ = try await fixture.admit()
        _ = try await fixture.store.apply(.attemptDeferred(Self.expired), to: jobs[0].id)
        #expect(try await calls(fixture).isEmpty)
        _ = try await fixture.store.apply(.attemptDeferred(Self.challenged), to: jobs[1].id)
        let call = try #require(try await calls(fixture).first?.objectValue)
        #expect(call["counts"] == ["credentials": 1, "url": 1])
        #expect(
            call["jobs"] == [
                ["job": .string(jobs[0].id.text), "reason": "url", "challenge": .null],
                [
                    "job": .string(jobs[1].id.text), "reason": "credentials",
                    "challenge": ["scheme": "basic", "realm": "films"],
                ],
            ])
    }

    @Test func announcesSessionWaitingWhenTheLastUnblockedJobEnds() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(3)
        _ = try await fixture.admit()
        _ = try await fixture.store.apply(.attemptDeferred(Self.expired), to: jobs[0].id)
        try await fixture.succeed(jobs[1].id)
        #expect(try await calls(fixture).isEmpty)
        _ = try await fixture.store.apply(.attemptFailed(StoreFixture.failure), to: jobs[2].id)
        #expect(try await calls(fixture).count == 1)
    }

    @Test func doesNotCountAPausedJobAsBlocked() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(2)
        _ = try await fixture.admit(1)
        _ = try await fixture.store.apply(.pauseRequested, to: jobs[1].id)
        _ = try await fixture.store.apply(.attemptDeferred(Self.expired), to: jobs[0].id)
        #expect(try await calls(fixture).isEmpty)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: jobs[1].id)
        #expect(try await calls(fixture).count == 1)
    }

    @Test func announcesSessionWaitingAgainOnlyAfterAJobWasQueued() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(2)
        _ = try await fixture.admit()
        for job in jobs { _ = try await fixture.store.apply(.attemptDeferred(Self.expired), to: job.id) }
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: jobs[1].id)
        #expect(try await calls(fixture).count == 1)
        _ = try await fixture.store.apply(.resumeRequested, to: jobs[0].id)
        _ = try await fixture.admit()
        #expect(try await calls(fixture).count == 1)
        _ = try await fixture.store.apply(.attemptDeferred(Self.expired), to: jobs[0].id)
        #expect(try await calls(fixture).count == 2)
    }

    @Test func blockedJobsHaveNoRetryTime() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.admit()
        _ = try await fixture.store.apply(.attemptDeferred(Self.challenged), to: job.id)
        fixture.time.advance(by: 1_000_000)
        #expect(try await fixture.admit().isEmpty)
        let stored = try await fixture.store.job(job.id)
        #expect(stored.state == .waiting(Self.challenged))
        #expect(stored.state.wait?.challenge == Challenge(scheme: "basic", realm: "films"))
    }
}
