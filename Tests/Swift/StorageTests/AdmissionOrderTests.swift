import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Tests which session and job are next.
@Suite struct AdmissionOrderTests {
    private func session(_ name: String, _ fixture: StoreFixture) async throws -> Name {
        let name = Name(trusted: name)
        _ = try await fixture.store.declareSession(name, configuration: nil)
        return name
    }

    @Test func sharesTheSlotsBetweenSessionsOfOnePriority() async throws {
        let fixture = try StoreFixture()
        let (crowd, few) = (try await session("crowd", fixture), try await session("few", fixture))
        _ = try await fixture.create(100, in: crowd)
        _ = try await fixture.create(3, in: few)
        let admitted = try await fixture.admit(4)
        #expect(admitted.count { $0.job.session == crowd } == 2)
        #expect(admitted.count { $0.job.session == few } == 2)
        // One session takes the slots that the other does not use.
        #expect(try await fixture.admit(8).map(\.job.session).count { $0 == few } == 1)
    }

    @Test func givesAFreeSlotToTheSessionWithFewerRunningJobs() async throws {
        let fixture = try StoreFixture()
        let (first, second) = (try await session("first", fixture), try await session("second", fixture))
        let jobs = try await fixture.create(10, in: first)
        _ = try await fixture.admit(2)
        _ = try await fixture.create(10, in: second)
        try await fixture.succeed(jobs[0].id)
        #expect(try await fixture.admit(2).map(\.job.session) == [second])
    }

    @Test func prefersPriorityToFairnessBetweenSessions() async throws {
        let fixture = try StoreFixture()
        let other = try await session("other", fixture)
        _ = try await fixture.create(5)
        var spec = JobSpec(url: "https://host/")
        spec.priority = .high
        let urgent = try await fixture.store.createJobs(
            [NewJob](repeating: NewJob(session: other, spec: spec), count: 3))
        #expect(Set(try await fixture.admit(3).map(\.job.id)) == Set(urgent.map(\.id)))
    }

    @Test func findsAJobBehindThousandsForAFullHost() async throws {
        let fixture = try StoreFixture()
        let busy = try await fixture.create(2000, host: "busy")
        let free = try await fixture.create(host: "free")
        let admitted = try await fixture.admit(4, perHost: 2)
        #expect(admitted.map(\.job.id) == [busy[0].id, busy[1].id, free[0].id])
    }

    @Test func holdsAJobUntilNotBefore() async throws {
        let fixture = try StoreFixture()
        var spec = JobSpec(url: "https://host/")
        spec.notBefore = fixture.time.now.addingTimeInterval(60)
        let job = try #require(try await fixture.store.createJobs([NewJob(session: .default, spec: spec)]).first)
        let limits = AdmissionLimits(jobs: 1, connectionsPerHost: 1)
        let round = try await fixture.store.admitJobs(limits) { _ in }
        #expect(round.admitted.isEmpty)
        #expect(round.nextWaitEnds == spec.notBefore)
        fixture.time.advance(by: 60)
        #expect(try await fixture.admit().map(\.job.id) == [job.id])
    }

    /// So that a look for the next job that is due does not read it.
    @Test func holdsOnlyQueuedJobs() async throws {
        let fixture = try StoreFixture()
        var spec = JobSpec(url: "https://host/")
        spec.notBefore = fixture.time.now.addingTimeInterval(60)
        let job = try #require(try await fixture.store.createJobs([NewJob(session: .default, spec: spec)]).first)
        let limits = AdmissionLimits(jobs: 1, connectionsPerHost: 1)
        for (signal, isHeld) in [
            (JobSignal.pauseRequested, false), (.resumeRequested, true), (.pauseRequested, false),
            (.cancelRequested(keepsPart: false), false),
        ] {
            _ = try await fixture.store.apply(signal, to: job.id)
            let held = try await fixture.store.read { db in
                try db.value("SELECT count(*) FROM jobs WHERE held_until IS NOT NULL", as: Int.self)
            }
            #expect(held == (isHeld ? 1 : 0), "\(signal)")
            let round = try await fixture.store.admitJobs(limits) { _ in }
            #expect(round.admitted.isEmpty)
            #expect(round.nextWaitEnds == (isHeld ? spec.notBefore : nil), "\(signal)")
        }
    }
}
