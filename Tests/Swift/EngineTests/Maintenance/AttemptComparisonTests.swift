import Downloads
import Foundation
import Storage
import TestKit
import Testing

@testable import Engine

/// A failover can leave jobs that run in the database, and have no attempt.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct AttemptComparisonTests {
    private let fixture: MaintenanceFixture
    private let comparison: AttemptComparison

    init() throws {
        fixture = try MaintenanceFixture(in: try PostgresFixture())
        comparison = AttemptComparison(services: fixture.services)
    }

    /// Admits what is queued, without attempts.
    private func admitOnly() async throws {
        _ = try await fixture.store.admitJobs(AdmissionLimits(jobs: 100, connectionsPerHost: 100)) { _ in }
    }

    @Test func jobWithoutAnAttemptIsQueuedAgainAfterTwoPasses() async throws {
        let carried = try await fixture.create()[0]
        try await fixture.admit()
        let left = try await fixture.create()[0]
        try await admitOnly()
        try await comparison.pass()
        #expect(try await fixture.job(left).state == .running(.attempting))
        try await comparison.pass()
        let queued = try await fixture.job(left)
        #expect(queued.state == .queued && queued.attempts == 0 && queued.failuresInARow == 0)
        #expect(try await fixture.job(carried).state == .running(.attempting))
        #expect(fixture.log.text.contains("1 jobs were running at this node"))
    }

    /// The next attempt of the same job begins between the passes.
    @Test func otherAttemptOfTheJobIsNotMeant() async throws {
        let job = try await fixture.create()[0]
        try await admitOnly()
        try await comparison.pass()
        _ = try await fixture.store.apply(.attemptInterrupted, to: job)
        try await admitOnly()
        try await comparison.pass()
        #expect(try await fixture.job(job).state == .running(.attempting))
        try await comparison.pass()
        #expect(try await fixture.job(job).state == .queued)
    }

    @Test func promotionWithoutAnAttemptIsContinued() async throws {
        let job = try await fixture.create()[0]
        try await admitOnly()
        let promotion = FinalizePlan(
            part: fixture.store.makePartID(), inode: 1, conflict: .rename,
            file: FinishedFile(path: "file", size: 3, sha256: nil, contentType: nil),
            receipt: Receipt(
                finalURL: "https://host/", redirects: [], status: 200, etag: nil, lastModified: nil,
                remoteAddress: nil, networkProtocol: "HTTP/1.1", lengthVerified: true, attempts: 1,
                timings: Receipt.Timings(connect: 0, firstByte: 0, transfer: 0, total: 0)))
        _ = try await fixture.store.apply(.finalizePlanned(promotion), to: job)
        try await comparison.pass()
        try await comparison.pass()
        await fixture.services.takenPromotions.wait()
        #expect(try await fixture.job(job).state == .running(.promoting(promotion)))
    }
}
