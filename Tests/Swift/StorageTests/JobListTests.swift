import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// The first page of the list takes jobs from the cache. It equals the page that is read from the database.
@Suite struct JobListTests {
    private static let queries = [
        JobQuery(), JobQuery(limit: 3), JobQuery(session: Name(trusted: "s")), JobQuery(state: .queued),
        JobQuery(session: .default, state: .paused, limit: 2), JobQuery(tag: "even"),
        JobQuery(session: Name(trusted: "s"), state: .cancelled, tag: "even"),
    ]

    private func expectPagesEqualRows(_ store: Store, _ step: String) async throws {
        for query in Self.queries {
            let page = try await store.jobs(query)
            let rows = try await store.read { db in
                let (sql, arguments) = query.statement
                return try db.map(sql, arguments) { try JobRow.job($0, store.sealer) }
            }
            #expect(page.jobs == Array(rows.prefix(query.limit)), "\(step)")
            #expect((page.next != nil) == (rows.count > query.limit), "\(step)")
        }
    }

    @Test func aPageWithCachedJobsEqualsTheRows() async throws {
        let fixture = try StoreFixture()
        let (store, session) = (fixture.store, Name(trusted: "s"))
        _ = try await store.declareSession(session, configuration: nil)
        var jobs: [JobID] = []
        for step in 0..<120 {
            let job = jobs.randomElement()
            switch (step < 10 ? 0 : step % 8, job) {
            case (0, _):
                var spec = JobSpec(url: "https://host/\(step)")
                spec.tags = step.isMultiple(of: 2) ? ["even"] : []
                jobs += try await store.createJobs([NewJob(session: step < 5 ? .default : session, spec: spec)]).map(
                    \.id)
            case (1, let job?): _ = try await store.apply(.pauseRequested, to: job)
            case (2, let job?): _ = try await store.apply(.resumeRequested, to: job)
            case (3, let job?): _ = try await store.apply(.cancelRequested(keepsPart: true), to: job)
            case (4, _):
                for admitted in try await fixture.admit(2) {
                    try await store.checkpoint(
                        [(admitted.job.id, admitted.job.attempts, StoreFixture.part("part_\(step)_\(admitted.job.id)"))]
                    )
                }
            case (5, let job?): _ = try await store.apply(.attemptStopped(.pause), to: job)
            case (6, let job?): if try await store.deleteJob(job) != nil { jobs.removeAll { $0 == job } }
            default: _ = try await store.apply(.retryRequested, to: jobs[0])
            }
            try await expectPagesEqualRows(store, "step \(step)")
        }
        _ = try await store.apply(.cancelRequested(keepsPart: false), toJobsOf: session)
        try await expectPagesEqualRows(store, "swept")
        fixture.time.advance(by: 604_801)
        _ = try await store.expireParts(over: nil)
        try await expectPagesEqualRows(store, "expired")
    }

    /// On PostgreSQL, the beginning of the node's follower empties the cache.
    @Test(.onSQLite) func jobsThatHaveNotChangedAreNotReadAgain() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(20)
        let first = try await fixture.store.jobs(JobQuery()).cached
        _ = try await fixture.store.apply(.pauseRequested, to: jobs[3].id)
        let new = try await fixture.create(1)[0]
        let second = try await fixture.store.jobs(JobQuery()).cached
        #expect(second.map(\.job.id) == [new.id] + first.map(\.job.id))
        let kept = zip(second.dropFirst(), first).filter { $0 === $1 }.map(\.0.job.id)
        #expect(kept == jobs.map(\.id).reversed().filter { $0 != jobs[3].id })
    }

    /// Jobs change state all the time. A page of one state has no job of another state.
    @Test func aPageIsOneSnapshot() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let jobs = try await fixture.create(30)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for job in jobs {
                group.addTask {
                    for _ in 0..<20 {
                        _ = try await store.apply(.pauseRequested, to: job.id)
                        _ = try await store.apply(.resumeRequested, to: job.id)
                    }
                }
            }
            for state in [JobState.Kind.queued, .paused] {
                group.addTask {
                    for _ in 0..<200 {
                        let page = try await store.jobs(JobQuery(state: state)).jobs
                        #expect(page.allSatisfy { $0.state.name == state })
                        #expect(page.map(\.id.text) == page.map(\.id.text).sorted(by: >))
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
