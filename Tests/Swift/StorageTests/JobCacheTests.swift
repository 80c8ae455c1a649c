import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Tests that polling does not read the database, and that cached jobs equal the committed ones.
@Suite struct JobCacheTests {
    /// On PostgreSQL, the beginning of the node's follower empties the cache.
    @Test(.onSQLite) func readsACachedJobWithoutTheDatabase() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(2)
        #expect(fixture.store.cachedJob(jobs[0].id) == nil)
        #expect(try await fixture.store.job(jobs[0].id) == jobs[0])
        let admitted = try await fixture.admit(1)
        let paused = try await fixture.store.apply(.attemptStopped(.pause), to: jobs[0].id).job
        #expect(admitted.first?.job.id == jobs[0].id)
        try await fixture.store.close()
        #expect(try await fixture.store.job(jobs[0].id) == paused)
        #expect(fixture.store.cachedJob(jobs[0].id)?.job == paused)
        await #expect(throws: StoreError.self) { try await fixture.store.job(jobs[1].id) }
    }

    /// Pages of the list are kept until the version changes.
    @Test func theVersionChangesWhenAJobIsCreatedOrDeleted() async throws {
        let fixture = try StoreFixture()
        // The first commit of a store stores the clock, and empties the cache.
        _ = try await fixture.create(1)
        let before = fixture.store.jobsVersion
        let job = try await fixture.create(1)[0].id
        let created = fixture.store.jobsVersion
        #expect(created != before)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job)
        let cancelled = fixture.store.jobsVersion
        #expect(cancelled != created)
        _ = try await fixture.store.deleteJob(job)
        #expect(fixture.store.jobsVersion != cancelled)
    }

    /// Runs every kind of write, and compares the cached jobs with the rows of the database. On PostgreSQL, the cache may become
    /// empty while a node follows the others.
    @Test(.onSQLite) func cachedJobsEqualCommittedJobs() async throws {
        let fixture = try StoreFixture()
        let (store, session) = (fixture.store, Name(trusted: "s"))
        _ = try await store.declareSession(session, configuration: nil)
        let jobs = try await fixture.create(6, in: session).map(\.id)
        var revisions: [Int] = []
        var (version, rows) = (UInt64.max, [Job?]())
        func check(_ step: String, _ location: SourceLocation = #_sourceLocation) async throws {
            for id in jobs {
                let stored = try await store.read { db in try JobRow.job(id, in: db, store.sealer) }
                #expect(store.cachedJob(id)?.job == stored, "\(step)", sourceLocation: location)
                if let stored { revisions.append(stored.revision) }
            }
            try await fixture.expectWorkingSetEqualsRows(jobs, step, location)
            let stored = try await store.read { db in try jobs.map { try JobRow.job($0, in: db, store.sealer) } }
            #expect(stored == rows || store.jobsVersion != version, "\(step)", sourceLocation: location)
            (version, rows) = (store.jobsVersion, stored)
        }
        for id in jobs { _ = try await store.job(id) }
        try await check("known")
        let admitted = try await fixture.admit(4)
        try await check("admitted")
        try await store.beginTransfer(of: admitted[0].job, .fresh)
        try await check("begun")
        try await store.checkpoint(
            admitted.prefix(2).enumerated().map { index, job in
                (job.job.id, job.job.attempts, StoreFixture.part("part_\(index)"))
            })
        try await check("checkpoint")
        #expect(store.cachedJob(jobs[0])?.job.bytesDurable == 5)
        let pause = AttemptReport(part: StoreFixture.part("part_0", durable: 7))
        _ = try await store.apply(.attemptStopped(.pause), to: jobs[0], pause)
        let failed = AttemptReport(part: StoreFixture.part("part_1", durable: 6))
        _ = try await store.apply([(jobs[1], .attemptFailed(StoreFixture.failure), failed)])
        try await check("ended")
        let wait = Wait(
            .storage(until: fixture.time.now.addingTimeInterval(600)), cause: StoreFixture.failure, location: .default)
        _ = try await store.apply(.attemptDeferred(wait), to: jobs[3])
        try await check("deferred")
        try await store.endStorageWaits(for: .default)
        try await check("storage waits ended")
        var spec = try await store.job(jobs[0]).spec
        spec.metadata = Metadata(["k": 1])
        _ = try await store.patchJob(
            jobs[0], from: store.job(jobs[0]).spec, to: spec, fields: [.metadata], expecting: nil)
        try await check("patched")
        let heir = NewJob(session: session, spec: JobSpec(url: "https://host/0"), resumeFrom: jobs[0])
        _ = try await store.createJobs([heir])
        try await check("adopted")
        #expect(store.cachedJob(jobs[0])?.job.part == nil)
        fixture.time.advance(by: 604_801)
        _ = try await store.expireParts(over: nil)
        try await check("expired")
        #expect(store.cachedJob(jobs[1])?.job.isPartLost == true)
        try await fixture.succeed(jobs[2])
        _ = try await store.recoverInterrupted()
        try await check("recovered")
        _ = try await store.apply(.cancelRequested(keepsPart: false), toJobsOf: session)
        try await check("swept")
        _ = try await store.deleteJob(jobs[4])
        try await check("forgotten")
        #expect(store.cachedJob(jobs[4]) == nil)
        try await store.invalidateSession(session)
        _ = try await store.finishDueBatches()
        _ = try await store.removeSettledSessions()
        try await check("closed")
        #expect(revisions.count > 50)
        await #expect(throws: StoreError.self) { try await store.job(jobs[2]) }
    }

    /// Reads and commits run concurrently. A read never returns a job from before an acknowledged change.
    @Test func neverServesAJobFromBeforeAnAcknowledgedChange() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let job = try #require(try await fixture.create().first?.id)
        let isOver = Monitor(false)
        // The readers never pause, so that some read during every commit.
        let readers = (0..<4).map { _ in
            Task {
                while !isOver.current {
                    _ = try? await store.job(job)
                    await Task.yield()
                }
            }
        }
        for _ in 0..<300 {
            for signal: JobSignal in [.pauseRequested, .resumeRequested] {
                let told = try await store.apply(signal, to: job).job
                #expect(try await store.job(job) == told)
                // Removes the job from the cache.
                store.jobCache.update([job], with: [:], at: nil)
            }
        }
        isOver.withLock { $0 = true }
        for reader in readers { await reader.value }
    }

    @Test func keepsAtMostTheLimitOfJobs() async throws {
        let jobCache = JobCache(limit: 100)
        let jobs = try await StoreFixture().create(1000)
        for job in jobs {
            _ = try await jobCache.job(job.id) { () async throws(StoreError) in job }
            // A job that is read all the time stays in the cache.
            #expect(jobCache[jobs[0].id]?.job == jobs[0])
        }
        #expect((50...100).contains(jobCache.cachedIDs(in: Set(jobs.map(\.id))).count))
    }

    @Test func observersSeeCommitsInOrderAndBeforeTheCallerReturns() async throws {
        let fixture = try StoreFixture()
        let told = Monitor<[Event]>([])
        fixture.store.addCommitObserver { commit in told.withLock { $0 += commit.events } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let job = try #require(try await fixture.create().first?.id)
                    let isTold = told.current.contains { $0.job == job && $0.type == .jobCreated }
                    #expect(isTold)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await fixture.store.events(EventQuery(limit: 1000)).events == told.current)
    }
}
