import Downloads
import Formats
import Foundation
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// Tests batches and their finish through the journal.
@Suite struct BatchStoreTests {
    private func finishes(_ fixture: StoreFixture) async throws -> [JSON] {
        try await fixture.store.events(EventQuery(types: [EventPattern(trusted: "session.finished")], limit: 100))
            .events
            .map { try JSON(parsing: $0.data) }
    }

    @Test func finishesABatchOnceAfterItsDelay() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(2)
        _ = try await fixture.admit()
        try await fixture.succeed(jobs[0].id)
        #expect(try await fixture.store.nextBatchDue() == nil)
        _ = try await fixture.store.apply(.attemptFailed(StoreFixture.failure), to: jobs[1].id)
        #expect(try await fixture.store.nextBatchDue() == fixture.time.now.addingTimeInterval(1))
        #expect(try await fixture.store.finishDueBatches().isEmpty)
        fixture.time.advance(by: 1)
        #expect(try await fixture.store.finishDueBatches().count == 1)
        #expect(try await fixture.store.finishDueBatches().isEmpty)

        let finish = try #require(try await finishes(fixture).first?.objectValue)
        #expect(finish["batch"] == 1)
        #expect(finish["outcome"] == "partly_failed")
        #expect(finish["counts"] == ["succeeded": 1, "failed": 1, "cancelled": 0])
        #expect(finish["first_event"] == 1)
        let failure = finish["failures"]?.arrayValue?.first?.objectValue
        #expect(failure?["job"] == .string(jobs[1].id.text))
        #expect(failure?["code"] == "connection_lost")
    }

    @Test func addsAJobToABatchThatIsDueLater() async throws {
        let fixture = try StoreFixture()
        for _ in 0..<6 {
            let job = try #require(try await fixture.create().first)
            _ = try await fixture.admit()
            try await fixture.succeed(job.id)
            fixture.time.advance(by: 0.9)
            #expect(try await fixture.store.finishDueBatches().isEmpty)
        }
        fixture.time.advance(by: 0.1)
        #expect(try await fixture.store.finishDueBatches().map(\.counts.succeeded) == [6])
    }

    @Test func beginsTheNextBatchAfterAFinish() async throws {
        let fixture = try StoreFixture()
        for number in 1...3 {
            let job = try #require(try await fixture.create().first)
            #expect(job.batch == number)
            _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
            fixture.time.advance(by: 2)
            #expect(try await fixture.store.finishDueBatches().map(\.outcome) == [.cancelled])
        }
    }

    @Test func keepsBatchCountsAfterJobsAreDeleted() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(3)
        for job in jobs {
            _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
            _ = try await fixture.store.deleteJob(job.id)
        }
        fixture.time.advance(by: 1)
        #expect(try await fixture.store.finishDueBatches().map(\.counts.cancelled) == [3])
    }

    @Test func countsARetriedJobAsOutstanding() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        _ = try await fixture.store.apply(.retryRequested, to: job.id)
        fixture.time.advance(by: 10)
        #expect(try await fixture.store.finishDueBatches().isEmpty)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        fixture.time.advance(by: 1)
        #expect(try await fixture.store.finishDueBatches().map(\.counts.cancelled) == [1])
        #expect(try await fixture.store.apply(.retryRequested, to: job.id).job.batch == 2)
    }

    @Test(.onSQLite) func keepsTheDueTimeAfterARestart() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        let due = try await fixture.store.nextBatchDue()
        #expect(due != nil)
        let copy = try TemporaryFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) {
            try FileManager.default.copyItem(atPath: "\(fixture.folder.path)/\(name)", toPath: "\(copy.path)/\(name)")
        }
        let reopened = try Store(at: copy.path, time: fixture.time)
        #expect(try await reopened.nextBatchDue() == due)
        fixture.time.advance(by: 100)
        #expect(try await reopened.finishDueBatches().count == 1)
    }

    @Test func reportsTheStatusOfASession() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(3)
        _ = try await fixture.admit(2)
        try await fixture.succeed(jobs[0].id)
        try await fixture.store.checkpoint([(job: jobs[1].id, admission: 1, part: StoreFixture.part())])
        let status = try await fixture.store.session(.default)
        #expect(status.counts == [.succeeded: 1, .running: 1, .queued: 1])
        #expect(status.bytesReceived == 8)
        #expect(status.bytesExpected == nil)
        #expect(status.batch == 1)
        #expect(status.state == .active)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: jobs[2].id)
        #expect(try await fixture.store.session(.default).bytesExpected == 13)
        #expect(status.lastEvent == Int64(try await fixture.eventTypes().count) - 1)
    }
}
