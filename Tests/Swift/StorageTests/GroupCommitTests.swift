import Base
import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Writes share commits but don't affect each other.
@Suite struct GroupCommitTests {
    @Test func aRefusedWriteLeavesTheOtherWritesOfItsGroupIntact() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let stored = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let session = index.isMultiple(of: 3) ? Name(trusted: "nobody") : Name.default
                    let new = NewJob(session: session, spec: JobSpec(url: "https://host/\(index)"))
                    return (try? await store.createJobs([new])) != nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(stored == 133)
        #expect(try await store.jobs(JobQuery(limit: 1000)).jobs.count == 133)
        #expect(try await fixture.eventTypes().count == 133)
    }

    /// The only write of a group has no savepoint on SQLite: the transaction is rolled back.
    @Test func aRefusedWriteAloneChangesNothing() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        _ = try await fixture.create(1)
        let commits = store.activity.commits
        await #expect(throws: StoreError.noSuchSession(.default)) {
            try await store.writer.write { transaction in
                _ = try transaction.append([NewEvent(.jobCreated, in: .default, data: [:])])
                throw StoreError.noSuchSession(.default)
            }
        }
        #expect(store.activity.commits == commits)
        // The numbers of the events continue.
        _ = try await fixture.create(1)
        #expect(try await store.events(EventQuery()).events.map(\.id) == [1, 2])
    }

    @Test func createsAllJobsOrNone() async throws {
        let fixture = try StoreFixture()
        var new = (0..<10).map { NewJob(session: .default, spec: JobSpec(url: "https://host/\($0)")) }
        new[7].session = Name(trusted: "nobody")
        await #expect(throws: StoreError.unknownSession(Name(trusted: "nobody"), index: 7)) {
            try await fixture.store.createJobs(new)
        }
        #expect(try await fixture.store.jobs(JobQuery()).jobs.isEmpty)
        #expect(try await fixture.eventTypes().isEmpty)
        #expect(try await fixture.store.session(.default).batch == 0)
    }

    @Test func runsCommitHooksInCommitOrder() async throws {
        let fixture = try StoreFixture()
        let order = Locked<[Int64]>([])
        let writer = fixture.store.writer
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                group.addTask {
                    _ = try await writer.write(onCommit: { id in order.withLock { $0.append(id) } }) { transaction in
                        try transaction.append([NewEvent(.jobCreated, in: .default, data: [:])])[0]
                    }
                }
            }
            try await group.waitForAll()
        }
        let committed = order.withLock { $0 }
        #expect(committed.count == 500)
        #expect(committed == committed.sorted())
    }

    @Test func aCursorReaderMissesNoEventDuringConcurrentWrites() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let writers = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<64 {
                    group.addTask {
                        for job in 0..<10 {
                            let spec = JobSpec(url: "https://host/\(writer)/\(job)")
                            _ = try await store.createJobs([NewJob(session: .default, spec: spec)])
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        var seen: [EventID] = []
        var after: EventID = 0
        while seen.count < 640 {
            let page = try await store.events(EventQuery(after: after, limit: 7))
            seen += page.events.map(\.id)
            after = page.nextAfter
            await Task.yield()
        }
        try await writers.value
        #expect(seen == Array(1...640))
    }

    @Test func sortsIdentifiersInCommitOrder() async throws {
        let fixture = try StoreFixture()
        let first = try await fixture.create(50)
        fixture.time.advance(by: -3600)
        let second = try await fixture.create(50)
        let ids = (first + second).map(\.id.text)
        #expect(ids == ids.sorted())
    }
}
