import Downloads
import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// Tests that jobs start in the order into which clients move them.
@Suite struct QueueMoveTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func queue() async throws -> [JobID] { try await fixture.store.queue(of: .default) }

    /// The jobs in the order in which admission takes them, one at a time.
    private func admitted(_ count: Int) async throws -> [JobID] {
        var jobs: [JobID] = []
        for slots in 1...count { jobs += try await fixture.admit(slots).map(\.job.id) }
        return jobs
    }

    @Test func jobsStartInTheOrderOfTheirPlaces() async throws {
        let ids = try await fixture.create(6).map(\.id)
        _ = try await fixture.store.moveJob(ids[4], to: .top)
        _ = try await fixture.store.moveJob(ids[0], to: .bottom)
        _ = try await fixture.store.moveJob(ids[5], to: .before(ids[2]))
        _ = try await fixture.store.moveJob(ids[1], to: .after(ids[2]))
        let expected = [ids[4], ids[5], ids[2], ids[1], ids[3], ids[0]]
        #expect(try await queue() == expected)
        #expect(try await admitted(6) == expected)
    }

    /// Any sequence of moves gives the order of the same moves in a list.
    @Test func manyMovesKeepTheOrderOfAList() async throws {
        var list = try await fixture.create(12).map(\.id)
        for step in 0..<200 {
            let job = list.remove(at: (step * 7) % list.count)
            let index = (step * 5) % (list.count + 1)
            let place = try await fixture.store.place(at: index, in: .default, Priority.normal.rank, without: [job])
            _ = try await fixture.store.moveJob(job, to: place)
            list.insert(job, at: index)
        }
        #expect(try await queue() == list)
        #expect(try await admitted(12) == list)
    }

    @Test func aMoveChangesOneJobAndTellsIt() async throws {
        let ids = try await fixture.create(3).map(\.id)
        let moved = try await fixture.store.moveJob(ids[2], to: .top)
        #expect(moved.revision == 2 && moved.queueRank != nil)
        for id in ids.dropLast() { #expect(try await fixture.store.job(id).revision == 1) }
        #expect(try await fixture.eventTypes().filter { $0 == "job.moved" }.count == 1)
        // The job is there already.
        #expect(try await fixture.store.moveJob(ids[2], to: .top).revision == 2)
        #expect(try await fixture.store.moveJob(ids[1], to: .bottom).revision == 1)
    }

    @Test func laterJobsComeAfterTheBottom() async throws {
        let ids = try await fixture.create(2).map(\.id)
        _ = try await fixture.store.moveJob(ids[0], to: .bottom)
        fixture.time.advance(by: 1)
        let later = try await fixture.create(1)[0].id
        #expect(try await queue() == [ids[1], ids[0], later])
    }

    @Test func aPlaceOutlivesAPauseAndAReopening() async throws {
        let ids = try await fixture.create(3).map(\.id)
        _ = try await fixture.store.apply(.pauseRequested, to: ids[2])
        _ = try await fixture.store.moveJob(ids[2], to: .top)
        _ = try await fixture.store.apply(.resumeRequested, to: ids[2])
        try await fixture.store.close()
        let reopened = try Store(at: fixture.folder.path, options: fixture.options, time: fixture.time)
        #expect(try await reopened.queue(of: .default) == [ids[2], ids[0], ids[1]])
        let limits = AdmissionLimits(jobs: 1, connectionsPerHost: 1)
        #expect(try await reopened.admitJobs(limits) { _ in }.admitted.map(\.job.id) == [ids[2]])
        try await reopened.close()
    }

    @Test func aMovedJobWaitsForItsHost() async throws {
        let busy = try await fixture.create(40, host: "busy").map(\.id)
        let free = try await fixture.create(2, host: "free").map(\.id)
        for id in busy { _ = try await fixture.store.moveJob(id, to: .top) }
        _ = try await fixture.store.moveJob(free[1], to: .before(free[0]))
        let admitted = try await fixture.admit(4, perHost: 1).map(\.job.id)
        #expect(admitted == [busy[39], free[1]])
    }

    @Test func refusesWhatHasNoPlace() async throws {
        let ids = try await fixture.create(3).map(\.id)
        _ = try await fixture.admit(1)
        func isRefused(_ id: JobID, _ place: QueuePosition) async throws -> Bool {
            do {
                _ = try await fixture.store.moveJob(id, to: place)
                return false
            } catch StoreError.moveRefused(id, _) {
                return true
            }
        }
        // It runs.
        #expect(try await isRefused(ids[0], .top))
        #expect(try await isRefused(ids[1], .before(ids[0])))
        #expect(try await isRefused(ids[1], .after(ids[1])))
        #expect(try await isRefused(ids[1], .after(JobID("job_0"))))
        var urgent = JobSpec(url: "https://host/")
        urgent.priority = .high
        let other = try await fixture.store.createJobs([NewJob(session: .default, spec: urgent)])[0].id
        #expect(try await isRefused(ids[1], .before(other)))
        await #expect(throws: StoreError.noSuchJob(JobID("job_0"))) {
            _ = try await fixture.store.moveJob(JobID("job_0"), to: .top)
        }
    }

    @Test(.onSQLite) func neighboursAreFoundByIndexes() async throws {
        for direction in [Transaction.Direction.previous, .next] {
            let plan = try await fixture.store.pool.read { db in
                let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + Transaction.neighbour(direction))
                statement.setUncheckedArguments([])
                return try Row.fetchAll(statement).map { $0["detail"] as String }
            }
            #expect(
                plan.contains { $0.contains("INDEX jobs_moved (session=? AND priority=? AND queue_rank") }, "\(plan)")
            #expect(!plan.contains { $0.hasPrefix("SCAN jobs") }, "\(plan)")
        }
    }

    // MARK: Creation

    @Test func aJobCanBeCreatedPaused() async throws {
        let specs = (0..<2).map { JobSpec(url: "https://host/\($0)") }
        let jobs = try await fixture.store.createJobs([
            NewJob(session: .default, spec: specs[0], isPaused: true), NewJob(session: .default, spec: specs[1]),
        ])
        #expect(jobs.map(\.state) == [.paused, .queued])
        #expect(try await fixture.eventTypes() == ["job.created", "job.paused", "job.created"])
        #expect(try await fixture.store.session(.default).counts[.paused] == 1)
        #expect(try await fixture.store.checkCounts() == [])
        #expect(try await fixture.admit(4).map(\.job.id) == [jobs[1].id])
    }

    @Test func aJobCanBeCreatedAtAPlace() async throws {
        let ids = try await fixture.create(2).map(\.id)
        let new = NewJob(session: .default, spec: JobSpec(url: "https://host/"), place: .before(ids[1]))
        let job = try await fixture.store.createJobs([new])[0].id
        #expect(try await queue() == [ids[0], job, ids[1]])
    }

    @Test func aGIDNamesOneJobOfASession() async throws {
        let gid = try #require(GID("20ab000000000001"))
        let stored = NewJob(session: .default, spec: JobSpec(url: "https://host/"), gid: gid)
        let job = try await fixture.store.createJobs([stored])[0].id
        let derived = try await fixture.create(1)[0]
        func found(_ text: String) async throws -> [JobID] {
            try await fixture.store.jobs(withGID: try #require(GIDPrefix(text)), in: .default)
        }
        #expect(try await found("20ab000000000001") == [job])
        #expect(try await found("20ab00") == [job])
        #expect(try await found(derived.aria2GID.description) == [derived.id])
        #expect(try await found("20ab000000000002") == [])
        await #expect(throws: StoreError.gidTaken(gid)) { _ = try await fixture.store.createJobs([stored]) }
    }
}
