import Downloads
import Foundation
import HTTPSemantics
import TestKit
import Testing

@testable import Storage

/// Tests the digests that files must have, and parts with wrong ones.
@Suite struct DisprovedPartTests {
    private let fixture: StoreFixture
    private var store: Store { fixture.store }

    init() throws { fixture = try StoreFixture() }

    private func claim(_ byte: UInt8) throws -> DigestClaim {
        DigestClaim(.reprDigest, try #require(Checksum(.sha512, bytes: Array(repeating: byte, count: 64))))
    }

    private func running() async throws -> Job {
        _ = try await fixture.create()
        return try #require(try await fixture.admit().first).job
    }

    private func mismatch() -> JobSignal {
        .attemptDeferred(Wait(.retry(until: fixture.time.now), cause: Failure(.checksumMismatch, "wrong")))
    }

    private func report(_ digests: [DigestClaim] = []) -> AttemptReport {
        var part = StoreFixture.part()
        part.label.digests = digests
        return AttemptReport(part: part, madeProgress: true, resume: .resumed(offset: 2))
    }

    @Test func storesTheDigestsOfTheServerWithThePart() async throws {
        let job = try await running()
        let claims = [try claim(1), try claim(2)]
        _ = try await store.apply(.attemptStopped(.pause), to: job.id, report(claims))
        #expect(try await store.job(job.id).part?.label.digests == claims)
        // The part that replaces it has its own digests.
        _ = try await store.apply(.resumeRequested, to: job.id)
        _ = try await fixture.admit()
        try await store.checkpoint([(job: job.id, admission: 2, part: StoreFixture.part("part_2"))])
        #expect(try await store.job(job.id).part?.label.digests == [])
    }

    @Test func movesTheDigestsWithAnAdoptedPart() async throws {
        let job = try await running()
        _ = try await store.apply(.attemptStopped(.pause), to: job.id, report([try claim(1)]))
        let order = NewJob(session: .default, spec: JobSpec(url: "https://host/"), resumeFrom: job.id)
        #expect(try await store.createJobs([order]).first?.part?.label.digests == [try claim(1)])
    }

    /// One commit marks the job and removes the part.
    @Test func removesThePartAfterADigestMismatchAndMarksTheJobDisproved() async throws {
        let job = try await running()
        let outcome = try await store.apply(mismatch(), to: job.id, report())
        guard case .done(let after, _, let dropped) = outcome else {
            Issue.record("refused: \(outcome)")
            return
        }
        #expect(dropped == StoreFixture.part().id)
        #expect(after.isCorrupt && after.isPartLost)
        #expect(try await store.job(job.id) == after)
        #expect(try await store.parts().isEmpty)

        // The mark stays after the report: the job restarts for this reason only once.
        let again = try #require(try await fixture.admit().first)
        #expect(again.job.isCorrupt && !again.spec.restsOnChecksum)
        try await store.beginTransfer(of: again.job, .restarted(.noValidator))
        let told = try await store.job(job.id)
        #expect(told.isCorrupt && !told.isPartLost)
    }

    @Test func clearsTheDisprovedMarkWhenTheURLChanges() async throws {
        let job = try await running()
        let disproved = try await store.apply(mismatch(), to: job.id, report()).job
        var spec = disproved.spec
        spec.url = "https://elsewhere/"
        let outcome = try await store.patchJob(
            job.id, from: disproved.spec, to: spec, fields: [.url], expecting: nil)
        #expect(outcome?.job.isCorrupt == false)
        #expect(try await !store.job(job.id).isCorrupt)
    }

    /// An expired part is reported as missing and nothing else.
    @Test func reportsAnExpiredPartAsMissingAndNotDisproved() async throws {
        let job = try await running()
        _ = try await store.apply(mismatch(), to: job.id, report())
        let again = try #require(try await fixture.admit().first).job
        try await store.beginTransfer(of: again, .restarted(.noValidator))
        let part = AttemptReport(part: StoreFixture.part("part_2"), madeProgress: true)
        _ = try await store.apply(.attemptFailed(StoreFixture.failure), to: job.id, part)
        #expect(try await store.expireParts(over: 0).dropped == [PartID("part_2")])
        let after = try await store.job(job.id)
        #expect(after.isPartLost && !after.isCorrupt)
    }
}
