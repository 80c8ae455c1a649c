import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

/// Tests parts of jobs that don't run: their expiry, their total size, and their adoption.
@Suite struct ResumeDataTests {
    /// A failed job with a part.
    private func failedJob(_ fixture: StoreFixture, _ part: String, durable: Int64 = 5) async throws -> JobID {
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.admit()
        let report = AttemptReport(part: StoreFixture.part(part, durable: durable), madeProgress: true)
        _ = try await fixture.store.apply(.attemptFailed(StoreFixture.failure), to: job.id, report)
        return job.id
    }

    private func forget(_ fixture: StoreFixture, over limit: Int64? = nil) async throws -> [String] {
        try await fixture.store.expireParts(over: limit).dropped.map(\.text)
    }

    @Test func removesAPartWhenItExpires() async throws {
        let fixture = try StoreFixture()
        var configuration = SessionConfiguration()
        configuration.resumeDataTTL = 100
        _ = try await fixture.store.declareSession(.default, configuration: configuration)
        let id = try await failedJob(fixture, "part_a")
        let expiry = fixture.time.now.addingTimeInterval(100)
        #expect(try await fixture.store.expireParts(over: nil).next == expiry)
        fixture.time.advance(by: 100)
        #expect(try await forget(fixture) == ["part_a"])
        #expect(try await fixture.store.job(id).part == nil)
        #expect(try await forget(fixture).isEmpty)
    }

    @Test func storesThePartsGaps() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.admit()
        let ranges = ByteRanges([0..<2, 7..<9])
        var part = StoreFixture.part("part_a")
        part.ranges = ranges
        try await fixture.store.checkpoint([(job: job.id, admission: 1, part: part)])
        let stored = try await fixture.store.job(job.id)
        #expect(stored.part?.ranges == ranges)
        #expect(stored.bytesDurable == 4)
        // The file ends after the last range.
        #expect(try await fixture.store.parts() == [PartID("part_a"): 9])
        part.ranges = ByteRanges(prefix: 10)
        try await fixture.store.checkpoint([(job: job.id, admission: 1, part: part)])
        #expect(try await fixture.store.job(job.id).part?.ranges == ByteRanges(prefix: 10))
    }

    @Test(arguments: ["[[0,2],[1,3]]", "[[0,9]]", "[[]]"]) func reportsRangesThatContradictTheByteCount(_ text: String)
        async throws
    {
        let fixture = try StoreFixture()
        let id = try await failedJob(fixture, "part_a")
        try await fixture.store.writer.write { try $0.run("UPDATE parts SET ranges = ?", [text]) }
        await #expect(throws: StoreError.self) { try await fixture.store.job(id) }
    }

    /// The mark stays until an attempt reports the loss or has new bytes, or until the job ends.
    @Test(arguments: ["told", "reported", "checkpoint", "cancelled", "unheard"])
    func remembersALostPartUntilItIsReported(_ way: String) async throws {
        let fixture = try StoreFixture()
        let id = try await failedJob(fixture, "part_a")
        #expect(try await !fixture.store.job(id).isPartLost)
        #expect(try await forget(fixture, over: 0) == ["part_a"])
        #expect(try await fixture.store.job(id).isPartLost)
        _ = try await fixture.store.apply(.retryRequested, to: id)
        _ = try await fixture.admit()
        let job = try await fixture.store.job(id)
        #expect(job.isPartLost)
        switch way {
        case "told": try await fixture.store.beginTransfer(of: job, .restarted(.partMissing))
        case "reported":
            let report = AttemptReport(resume: .restarted(.partMissing))
            _ = try await fixture.store.apply(.attemptFailed(StoreFixture.failure), to: id, report)
        case "checkpoint":
            try await fixture.store.checkpoint([(job: id, admission: job.admissions, part: StoreFixture.part("part_b"))]
            )
        case "cancelled": _ = try await fixture.store.apply(.attemptStopped(.cancel(keepsPart: false)), to: id)
        default: _ = try await fixture.store.apply(.attemptFailed(StoreFixture.failure), to: id)
        }
        #expect(try await fixture.store.job(id).isPartLost == (way == "unheard"))
    }

    /// No byte was lost.
    @Test func anEmptyPartDoesNotCountAsLost() async throws {
        let fixture = try StoreFixture()
        let id = try await failedJob(fixture, "part_a", durable: 0)
        fixture.time.advance(by: 604_800)
        #expect(try await forget(fixture) == ["part_a"])
        #expect(try await !fixture.store.job(id).isPartLost)
    }

    @Test func stopsTheExpiryOfAPausedJobsPart() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.admit()
        _ = try await fixture.store.apply(
            .attemptStopped(.pause), to: job.id, AttemptReport(part: StoreFixture.part("part_a")))
        #expect(try await fixture.store.expireParts(over: nil).next == nil)
        fixture.time.advance(by: 10_000_000)
        #expect(try await forget(fixture).isEmpty)
        _ = try await fixture.store.apply(.resumeRequested, to: job.id)
        #expect(
            try await fixture.store.job(job.id).part?.expiry.countdown?.end
                == fixture.time.now.addingTimeInterval(604_800))
    }

    @Test func stopsTheExpiryOfARunningJobsPart() async throws {
        let fixture = try StoreFixture()
        let id = try await failedJob(fixture, "part_a")
        _ = try await fixture.store.apply(.retryRequested, to: id)
        _ = try await fixture.admit()
        #expect(try await fixture.store.expireParts(over: 0).next == nil)
        #expect(try await fixture.store.job(id).part != nil)
    }

    @Test func evictsTheOldestPartAboveTheLimit() async throws {
        let fixture = try StoreFixture()
        var jobs: [JobID] = []
        for name in ["part_a", "part_b", "part_c"] { jobs.append(try await failedJob(fixture, name, durable: 10)) }
        #expect(try await forget(fixture, over: 30).isEmpty)
        #expect(try await forget(fixture, over: 29) == ["part_a"])
        #expect(try await forget(fixture, over: 5) == ["part_b", "part_c"])
        for job in jobs { #expect(try await fixture.store.job(job).part == nil) }
    }

    /// The writer can be busy for long, for example while another node commits.
    @Test func keepsAPartUnderALimitThatChangesBeforeTheWrite() async throws {
        let fixture = try StoreFixture()
        let job = try await failedJob(fixture, "part_a", durable: 10)
        let (store, gate, limit) = (fixture.store, Gate(), Monitor((bytes: Int64(5), reads: 0)))
        let none = AdmissionLimits(jobs: 0, connectionsPerHost: 100)
        async let busy = store.admitJobs(none) { _ in gate.pass() }
        await gate.reached()
        async let expired = store.expireParts {
            limit.withLock {
                $0.reads += 1
                return PartLimits(bytes: $0.bytes)
            }
        }
        #expect(await limit.wait { $0.reads > 0 })
        limit.withLock { $0.bytes = 10 }
        gate.open()
        let (_, pass) = try await (busy, expired)
        #expect(pass.dropped.isEmpty)
        #expect(try await fixture.store.job(job).part != nil)
    }

    @Test func keepsThePartOfACancelledJobIfRequested() async throws {
        let fixture = try StoreFixture()
        for (name, keeps) in [("part_a", true), ("part_b", false)] {
            let job = try #require(try await fixture.create().first)
            _ = try await fixture.admit()
            let report = AttemptReport(part: StoreFixture.part(name))
            _ = try await fixture.store.apply(.attemptStopped(.pause), to: job.id, report)
            _ = try await fixture.store.apply(.cancelRequested(keepsPart: keeps), to: job.id)
            #expect(try await (fixture.store.job(job.id).part != nil) == keeps)
        }
        #expect(try await fixture.store.parts().keys.map(\.text) == ["part_a"])
    }

    @Test func movesThePartToAnotherJob() async throws {
        let fixture = try StoreFixture()
        let donor = try await failedJob(fixture, "part_a")
        let heir = try #require(
            try await fixture.store.createJobs([
                NewJob(session: .default, spec: JobSpec(url: "https://elsewhere/"), resumeFrom: donor)
            ]).first)
        #expect(heir.part?.id.text == "part_a")
        #expect(heir.bytesDurable == 5)
        #expect(try await fixture.store.job(donor).part == nil)
        #expect(try await fixture.store.job(heir.id) == heir)
    }

    @Test func refusesAPartOfAnActiveJobOrOfAJobWithoutOne() async throws {
        let fixture = try StoreFixture()
        let running = try #require(try await fixture.create().first)
        _ = try await fixture.admit()
        let cancelled = try #require(try await fixture.create().first)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: true), to: cancelled.id)
        for donor in [running.id, cancelled.id, JobID("job_nobody")] {
            await #expect {
                try await fixture.store.createJobs([
                    NewJob(session: .default, spec: JobSpec(url: "https://h/"), resumeFrom: donor)
                ])
            } throws: { error in
                if case .noResumeData(donor, _, _)? = error as? StoreError { true } else { false }
            }
        }
        #expect(try await fixture.store.jobs(JobQuery()).jobs.count == 2)
    }
}
