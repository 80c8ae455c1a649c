import Downloads
import Foundation
import Storage
import TestKit
import Testing

@testable import Engine

@Suite struct SchedulerTests {
    private let started = Monitor<[JobID]>([])

    private func scheduler(_ fixture: MaintenanceFixture, slots: Int) -> Scheduler {
        Scheduler(
            services: fixture.services, limits: { AdmissionLimits(jobs: slots, connectionsPerHost: 100) }
        ) { [started, fixture] admitted in
            _ = fixture.active.begin(admitted, fixture.services)
            started.withLock { $0.append(admitted.job.id) }
        }
    }

    @Test func admitsAsManyJobsAsThereAreSlots() async throws {
        let fixture = try MaintenanceFixture()
        let scheduler = scheduler(fixture, slots: 2)
        let jobs = try await fixture.create(3)
        _ = try await scheduler.pass()
        #expect(started.current == Array(jobs.prefix(2)))
        _ = try await scheduler.pass()
        #expect(started.current.count == 2)
        try await fixture.fail(jobs[0])
        fixture.active.end(jobs[0], admission: 1)
        _ = try await scheduler.pass()
        #expect(started.current == jobs)
    }

    @Test func admitsAWaitingJobAtItsTimeAndNotBefore() async throws {
        let fixture = try MaintenanceFixture()
        let scheduler = scheduler(fixture, slots: 2)
        let job = try await fixture.create()[0]
        _ = try await scheduler.pass()
        let later = fixture.now.addingTimeInterval(10)
        try await fixture.deferred(job, .network(until: later))
        fixture.active.end(job, admission: 1)
        #expect(try await scheduler.pass() == later)
        fixture.time.advance(by: 9.9)
        #expect(try await scheduler.pass() == later)
        #expect(started.current == [job])
        fixture.time.advance(by: 0.1)
        _ = try await scheduler.pass()
        #expect(started.current == [job, job])
    }

    @Test func admitsNoJobWhileTheDownloadsFolderDoesNotWork() async throws {
        let fixture = try MaintenanceFixture()
        let scheduler = scheduler(fixture, slots: 2)
        try await fixture.create()
        for location in fixture.services.locations.all {
            _ = location.health.record(DiskError("open the folder", code: 2))
        }
        #expect(try await scheduler.pass() == nil)
        #expect(started.current.isEmpty)
        _ = fixture.services.locations.main.health.record(nil)
        _ = try await scheduler.pass()
        #expect(started.current.count == 1)
    }

    /// The writer can be busy for long, for example while another node commits.
    @Test func limitThatChangesBeforeTheWriteApplies() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.create(3)
        let gate = Gate()
        let none = AdmissionLimits(jobs: 0, connectionsPerHost: 100)
        async let busy = fixture.store.admitJobs(none) { _ in gate.pass() }
        await gate.reached()

        let limit = Monitor((jobs: 16, reads: 0))
        let scheduler = Scheduler(
            services: fixture.services,
            limits: {
                limit.withLock {
                    $0.reads += 1
                    return AdmissionLimits(jobs: $0.jobs, connectionsPerHost: 100)
                }
            },
            start: { [started] admitted in started.withLock { $0.append(admitted.job.id) } })
        async let pass = scheduler.pass()
        #expect(await limit.wait { $0.reads > 0 })
        limit.withLock { $0.jobs = 1 }
        gate.open()
        _ = try await (busy, pass)
        #expect(started.current.count == 1)
    }
}
