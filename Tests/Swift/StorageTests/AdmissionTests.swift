import Downloads
import Foundation
import HTTPSemantics
import TestKit
import Testing

@testable import Storage

/// Tests which jobs get a slot.
@Suite struct AdmissionTests {
    @Test func admitsTheOldestJobsUpToTheLimit() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(5)
        #expect(try await fixture.admit(2).map(\.job.id) == jobs[0..<2].map(\.id))
        #expect(try await fixture.admit(2).isEmpty)
        try await fixture.succeed(jobs[0].id)
        #expect(try await fixture.admit(2).map(\.job.id) == [jobs[2].id])
    }

    @Test func skipsJobsOfAFullHost() async throws {
        let fixture = try StoreFixture()
        let busy = try await fixture.create(3, host: "busy")
        let free = try await fixture.create(2, host: "free")
        let admitted = try await fixture.admit(16, perHost: 1).map(\.job.id)
        #expect(admitted == [busy[0].id, free[0].id])
    }

    @Test func limitsTheRunningJobsOfASession() async throws {
        let fixture = try StoreFixture()
        let small = Name(trusted: "small")
        var configuration = SessionConfiguration()
        configuration.maxConcurrentJobs = 1
        _ = try await fixture.store.declareSession(small, configuration: configuration)
        let limited = try await fixture.create(3, in: small)
        let others = try await fixture.create(2)
        #expect(Set(try await fixture.admit().map(\.job.id)) == Set([limited[0].id] + others.map(\.id)))
        configuration.maxConcurrentJobs = 2
        _ = try await fixture.store.declareSession(small, configuration: configuration)
        #expect(try await fixture.admit().map(\.job.id) == [limited[1].id])
    }

    @Test func limitsTheConnectionsOfASessionToEachHost() async throws {
        let fixture = try StoreFixture()
        let polite = Name(trusted: "polite")
        var configuration = SessionConfiguration()
        configuration.maxConnectionsPerHost = 1
        _ = try await fixture.store.declareSession(polite, configuration: configuration)
        let one = try await fixture.create(20, in: polite, host: "one")
        let two = try await fixture.create(20, in: polite, host: "two")
        let others = try await fixture.create(2, host: "one")
        let expected = [one[0].id, two[0].id] + others.map(\.id)
        #expect(Set(try await fixture.admit().map(\.job.id)) == Set(expected))
        try await fixture.succeed(two[0].id)
        #expect(try await fixture.admit().map(\.job.id) == [two[1].id])
    }

    /// Nodes count those that they have claimed (`NodeTests`).
    @Test(.onSQLite) func countsAdditionalConnectionsAgainstTheHostLimit() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(4, host: "host")
        var limits = AdmissionLimits(jobs: 16, connectionsPerHost: 4)
        let host = URLRule.hostAndPort(of: jobs[0].url)
        limits.taken = [.init(session: .default, host: host, count: 2), .init(session: .default, host: "x", count: 9)]
        let admitted = try await fixture.store.admitJobs(limits) { _ in }.admitted
        #expect(admitted.map(\.job.id) == jobs.prefix(2).map(\.id))
        limits.taken = []
        #expect(try await fixture.store.admitJobs(limits) { _ in }.admitted.count == 2)
    }

    @Test func skipsALongQueueOfAFullHostInOneQuery() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.create(3000, host: "busy")
        let free = try await fixture.create(1, host: "free")
        let admitted = try await fixture.admit(16, perHost: 2).map(\.job.id)
        #expect(admitted.count == 3)
        #expect(admitted.last == free[0].id)
        #expect(try await fixture.admit(16, perHost: 2).isEmpty)
    }

    @Test func admitsHigherPrioritiesFirst() async throws {
        let fixture = try StoreFixture()
        var ids: [Priority: JobID] = [:]
        for priority in [Priority.low, .normal, .high] {
            var spec = JobSpec(url: "https://host/")
            spec.priority = priority
            ids[priority] = try await fixture.store.createJobs([NewJob(session: .default, spec: spec)]).first?.id
        }
        #expect(try await fixture.admit().map(\.job.id) == [ids[.high], ids[.normal], ids[.low]])
    }

    @Test func endsWaitsWhenTheirTimeIsReached() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.admit()
        let until = fixture.time.now.addingTimeInterval(5)
        let wait = Wait(.retry(until: until), cause: StoreFixture.failure)
        _ = try await fixture.store.apply(.attemptDeferred(wait), to: job.id)
        let limits = AdmissionLimits(jobs: 1, connectionsPerHost: 1)
        let early = try await fixture.store.admitJobs(limits) { _ in }
        #expect(early.admitted.isEmpty)
        #expect(early.nextWaitEnds == until)
        fixture.time.advance(by: 5)
        let due = try await fixture.store.admitJobs(limits) { _ in }
        #expect(due.admitted.map(\.job.attempts) == [2])
        #expect(due.nextWaitEnds == nil)
    }
}
