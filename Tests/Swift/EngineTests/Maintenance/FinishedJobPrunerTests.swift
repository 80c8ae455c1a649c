import Downloads
import Foundation
import Storage
import TestKit
import Testing

@testable import Engine

@Suite struct FinishedJobPrunerTests {
    private static let retention = FinishedRetention(acknowledged: 100, unacknowledged: 1000)

    private func pruner(
        _ fixture: MaintenanceFixture, _ retention: FinishedRetention = retention
    ) -> FinishedJobPruner {
        fixture.limit { $0.finishedRetention = retention }
        return FinishedJobPruner(services: fixture.services)
    }

    /// A job that is cancelled, and whose batch is finished.
    private func finishedJob(_ fixture: MaintenanceFixture) async throws -> JobID {
        let job = try await fixture.create()[0]
        try await fixture.cancel(job)
        fixture.time.advance(by: 2)
        _ = try await fixture.store.finishDueBatches()
        return job
    }

    private func acknowledge(_ fixture: MaintenanceFixture) async throws {
        try await fixture.store.acknowledge(.default, through: try await fixture.store.lastEvent())
    }

    private func jobs(_ fixture: MaintenanceFixture) async throws -> Int {
        try await fixture.states().values.reduce(0, +)
    }

    @Test func removesAnAcknowledgedJobWhenItsTimeIsOverAndNotBefore() async throws {
        let fixture = try MaintenanceFixture()
        _ = try await finishedJob(fixture)
        try await acknowledge(fixture)
        fixture.time.advance(by: 97)
        #expect(try await pruner(fixture).pass() == fixture.now.addingTimeInterval(10))
        #expect(try await jobs(fixture) == 1)
        fixture.time.advance(by: 2)
        _ = try await pruner(fixture).pass()
        #expect(try await jobs(fixture) == 0)
        #expect(try await fixture.eventTypes().suffix(2) == ["session.finished", "job.deleted"])
        #expect(fixture.log.text.contains("Removed 1 finished jobs."))
        #expect(try await fixture.store.checkCounts().isEmpty)
    }

    @Test func removesAJobAtOnceIfNothingCanAcknowledgeIt() async throws {
        let fixture = try MaintenanceFixture()
        _ = try await finishedJob(fixture)
        fixture.time.advance(by: 99)
        _ = try await pruner(fixture).pass()
        #expect(try await jobs(fixture) == 0)
        #expect(try await fixture.store.session(.default).unacknowledgedSince == nil)
    }

    /// The finish of the batch names the jobs that failed.
    @Test(arguments: [nil, .expected] as [Acknowledgement?])
    func aBatchThatIsNotFinishedKeepsItsJobsOnlyForAConsumer(_ acknowledgement: Acknowledgement?) async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.declare { $0.acknowledgement = acknowledgement }
        let ids = try await fixture.create(3)
        try await fixture.cancel(ids[1])
        try await fixture.admit()
        try await fixture.fail(ids[0])
        fixture.time.advance(by: 101)
        _ = try await pruner(fixture).pass()
        let left: [JobState.Kind: Int] = [.failed: 1, .running: 1]
        #expect(try await fixture.states() == (acknowledgement == nil ? left : left.merging([.cancelled: 1]) { $1 }))
        #expect(try await fixture.store.checkCounts().isEmpty)
    }

    @Test func keepsAJobLongerIfItsConsumerHasNotAcknowledgedIt() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.declare { $0.acknowledgement = .expected }
        _ = try await finishedJob(fixture)
        fixture.time.advance(by: 900)
        _ = try await pruner(fixture).pass()
        #expect(try await jobs(fixture) == 1)
        fixture.time.advance(by: 200)
        _ = try await pruner(fixture).pass()
        #expect(try await jobs(fixture) == 0)
        // The finish is still reported as unacknowledged, with its counts.
        #expect(try await fixture.store.session(.default).unacknowledgedSince != nil)
    }

    @Test func keepsAllJobsWithoutARetention() async throws {
        let fixture = try MaintenanceFixture()
        _ = try await finishedJob(fixture)
        fixture.time.advance(by: 100_000)
        #expect(try await FinishedJobPruner(services: fixture.services).pass() == nil)
        #expect(try await jobs(fixture) == 1)
    }

    @Test func keepsOutstandingJobsForEver() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.create(3)
        fixture.time.advance(by: 100_000)
        _ = try await pruner(fixture).pass()
        #expect(try await fixture.states() == [.queued: 3])
    }

    @Test func keepsARetriedJob() async throws {
        let fixture = try MaintenanceFixture()
        let job = try await finishedJob(fixture)
        try await acknowledge(fixture)
        fixture.time.advance(by: 200)
        let due = try await fixture.store.finishedJobs(past: Self.retention).jobs
        #expect(due.map(\.id) == [job])
        _ = try await fixture.store.apply(.retryRequested, to: job)
        #expect(try await fixture.store.deleteFinishedJobs(due).isEmpty)
        #expect(try await fixture.states() == [.queued: 1])
    }

    @Test func removesManyJobsInSlicesAndTheirParts() async throws {
        let fixture = try MaintenanceFixture()
        let part = try fixture.makePart("part_a")
        let failed = try await fixture.create()[0]
        try await fixture.admit()
        try await fixture.fail(failed, having: part)
        let ids = try await fixture.create(2500)
        try await fixture.store.apply(.cancelRequested(keepsPart: false), toJobsOf: .default)
        try await fixture.create()
        fixture.time.advance(by: 2000)
        let first = try await fixture.store.finishedJobs(past: Self.retention)
        #expect(first.jobs.count == 1000 && first.next == ids[998])
        _ = try await pruner(fixture).pass()
        #expect(try await jobs(fixture) == 1)
        #expect(!fixture.hasFile(of: part))
    }

    @Test(arguments: [true, false]) func removesFinishedFilesOnRequest(_ deletesFiles: Bool) async throws {
        let fixture = try MaintenanceFixture()
        try await succeededJob(fixture, "film.bin")
        try fixture.temporary.write("other", to: "downloads/other.bin")
        fixture.time.advance(by: 2000)
        _ = try await pruner(fixture, Self.shortRetention(deletingFiles: deletesFiles)).pass()
        #expect(try await jobs(fixture) == 0)
        #expect((fixture.temporary.bytes(of: "downloads/film.bin") == nil) == deletesFiles)
        #expect(fixture.temporary.bytes(of: "downloads/other.bin") != nil)
    }

    /// The pruner has read the jobs before the client deletes one of them.
    @Test func keepsTheFileOfAJobThatAClientHasDeleted() async throws {
        let fixture = try MaintenanceFixture()
        let kept = try await succeededJob(fixture, "kept.bin")
        try await succeededJob(fixture, "removed.bin")
        fixture.time.advance(by: 2000)
        let retention = Self.shortRetention(deletingFiles: true)
        let worker = pruner(fixture, retention)
        let due = try await fixture.store.finishedJobs(past: retention).jobs
        #expect(due.count == 2)
        #expect(try await fixture.store.deleteJob(kept) != nil)
        #expect(try await worker.delete(due, past: retention) == 1)
        #expect(fixture.temporary.bytes(of: "downloads/kept.bin") != nil)
        #expect(fixture.temporary.bytes(of: "downloads/removed.bin") == nil)
    }

    /// The pruner has read the jobs before the client changes the retention.
    @Test(arguments: [true, false]) func keepsJobsAndFilesUnderAChangedRetention(_ deletesFiles: Bool) async throws {
        let fixture = try MaintenanceFixture()
        try await succeededJob(fixture, "film.bin")
        fixture.time.advance(by: 2000)
        let retention = Self.shortRetention(deletingFiles: deletesFiles)
        let worker = pruner(fixture, retention)
        let due = try await fixture.store.finishedJobs(past: retention).jobs
        #expect(due.count == 1)
        fixture.limit { $0.finishedRetention = nil }
        #expect(try await worker.delete(due, past: retention) == 0)
        #expect(try await jobs(fixture) == 1)
        #expect(fixture.temporary.bytes(of: "downloads/film.bin") != nil)
    }

    /// A job that still named the removed file would promise it to its clients.
    @Test func deletesTheJobOfARemovedFileAlsoUnderAChangedRetention() async throws {
        let fixture = try MaintenanceFixture()
        try await succeededJob(fixture, "film.bin")
        fixture.time.advance(by: 2000)
        let retention = Self.shortRetention(deletingFiles: true)
        let worker = pruner(fixture, retention)
        let due = try await fixture.store.finishedJobs(past: retention).jobs
        let gate = Gate()
        async let busy = fixture.store.admitJobs(AdmissionLimits(jobs: 0, connectionsPerHost: 1)) { _ in gate.pass() }
        await gate.reached()
        async let deleted = worker.delete(due, past: retention)
        _ = try await eventually("the file to be removed") {
            fixture.temporary.bytes(of: "downloads/film.bin") == nil ? true : nil
        }
        fixture.limit { $0.finishedRetention = nil }
        gate.open()
        _ = try await busy
        #expect(try await deleted == 1)
        #expect(try await jobs(fixture) == 0)
    }

    private static func shortRetention(deletingFiles deletesFiles: Bool) -> FinishedRetention {
        FinishedRetention(acknowledged: 100, unacknowledged: 1000, deletesFiles: deletesFiles)
    }

    /// A job with a finished file.
    @discardableResult
    private func succeededJob(_ fixture: MaintenanceFixture, _ path: String) async throws -> JobID {
        try fixture.temporary.write("abc", to: "downloads/\(path)")
        let job = try await fixture.create()[0]
        try await fixture.admit()
        _ = try await fixture.store.apply(.finalizePlanned(Self.promotion(to: path)), to: job)
        _ = try await fixture.store.apply(.finalized(nil), to: job)
        return job
    }

    private static func promotion(to path: String) -> FinalizePlan {
        FinalizePlan(
            part: PartID("part_1"), inode: 1, conflict: .rename,
            file: FinishedFile(path: path, size: 3, sha256: nil, contentType: nil),
            receipt: Receipt(
                finalURL: "https://host/", redirects: [], status: 200, etag: nil, lastModified: nil,
                remoteAddress: nil, networkProtocol: "HTTP/1.1", lengthVerified: true, attempts: 1,
                timings: Receipt.Timings(connect: 0, firstByte: 0, transfer: 0, total: 0)))
    }

    /// A clock that jumps ahead makes no job older.
    @Test func removesNothingBecauseOfAJumpOfTheClock() async throws {
        let fixture = try MaintenanceFixture()
        _ = try await finishedJob(fixture)
        try await acknowledge(fixture)
        fixture.time.jump(by: 1_000_000)
        try await fixture.store.followClock()
        fixture.time.advance(by: 90)
        _ = try await pruner(fixture).pass()
        #expect(try await jobs(fixture) == 1)
    }
}
