import Downloads
import Foundation
import Testing

@testable import Storage

/// The quotas of tokens that the store judges.
@Suite struct TokenQuotaTests {
    private struct Stage {
        let fixture = try! StoreFixture()
        let token: Token
        var store: Store { fixture.store }

        init(_ quotas: TokenQuotas) async throws {
            token = try await fixture.store.createToken(
                NewToken(grant: Grant(.jobs)!, quotas: quotas), with: TokenDigest(Array(repeating: 1, count: 32)))
        }

        func create(_ count: Int, host: String = "host") async throws -> [JobID] {
            let creator = JobCreator(visible: .all, token: token.id, quotas: token.quotas)
            return try await store.createJobs(
                (0..<count).map { NewJob(session: .default, spec: JobSpec(url: "https://\(host)/\($0)")) }, by: creator
            ).map(\.id)
        }

        func admitted(_ limit: Int = 100) async throws -> [JobID] {
            try await fixture.admit(limit).map(\.job.id)
        }

        /// Lets a running job receive bytes.
        func receive(_ bytes: Int64, _ job: JobID, admission: Int = 1) async throws {
            try await store.checkpoint([
                (job: job, admission: admission, part: StoreFixture.part("part_\(job)", durable: bytes, size: nil))
            ])
        }
    }

    @Test func outstandingJobsAreLimited() async throws {
        let stage = try await Stage(TokenQuotas(outstandingJobs: 3))
        let jobs = try await stage.create(2)
        func refusal(_ count: Int, left: Int) -> StoreError {
            .quotaExceeded(.outstandingJobs(limit: 3, left: left, requested: count))
        }
        await #expect(throws: refusal(2, left: 1)) { try await stage.create(2) }
        #expect(try await stage.store.jobs(JobQuery()).jobs.count == 2)
        _ = try await stage.create(1)
        await #expect(throws: refusal(1, left: 0)) { try await stage.create(1) }
        // Jobs of other callers neither count nor are limited.
        _ = try await stage.fixture.create(5)
        _ = try await stage.store.apply(.cancelRequested(keepsPart: false), to: jobs[0])
        _ = try await stage.create(1)
        await #expect(throws: refusal(1, left: 0)) { try await stage.create(1) }
    }

    @Test func jobsKeepTheirTokenAfterReopening() async throws {
        let stage = try await Stage(TokenQuotas(outstandingJobs: 1))
        let job = try await stage.create(1)[0]
        let other = try await stage.fixture.create()[0]
        try await stage.store.close()
        let store = try Store(
            at: stage.fixture.folder.path, options: stage.fixture.options, time: stage.fixture.time)
        #expect(try await store.job(job).token == stage.token.id)
        #expect(try await store.job(other.id).token == nil)
        #expect(store.tokens.all.first?.quotas == stage.token.quotas)
    }

    @Test func concurrentTransfersAreLimitedAndOthersOvertake() async throws {
        let stage = try await Stage(TokenQuotas(concurrentTransfers: 2))
        // More jobs than one read of the queue has, at several hosts.
        let jobs = try await stage.create(50) + stage.create(3, host: "elsewhere")
        let others = try await stage.fixture.create(3).map(\.id)
        let first = try await stage.admitted()
        #expect(Set(first) == Set(jobs.prefix(2) + others))
        #expect(try await stage.admitted().isEmpty)
        try await stage.fixture.succeed(first.first { jobs.contains($0) }!)
        #expect(try await stage.admitted().count == 1)
        #expect(try await stage.admitted().isEmpty)
        // A revoked token limits nothing.
        try await stage.store.deleteToken(stage.token.id)
        #expect(try await stage.admitted().count == 50)
    }

    /// The writer keeps the quotas in memory.
    @Test func quotasOfALaterTokenApply() async throws {
        let stage = try await Stage(.none)
        _ = try await stage.create(1)
        #expect(try await stage.admitted().count == 1)
        let quotas = TokenQuotas(concurrentTransfers: 1)
        let later = try await stage.store.createToken(
            NewToken(grant: Grant(.jobs)!, quotas: quotas), with: TokenDigest(Array(repeating: 2, count: 32)))
        _ = try await stage.store.createJobs(
            (0..<3).map { NewJob(session: .default, spec: JobSpec(url: "https://host/\($0)")) },
            by: JobCreator(visible: .all, token: later.id, quotas: quotas))
        #expect(try await stage.admitted().count == 1)
        #expect(try await stage.admitted().isEmpty)
    }

    @Test func bytesOfADayAreLimited() async throws {
        let stage = try await Stage(TokenQuotas(bytesPerDay: 100))
        let jobs = try await stage.create(3)
        #expect(try await stage.admitted(2) == Array(jobs.prefix(2)))
        try await stage.receive(60, jobs[0])
        try await stage.receive(39, jobs[1])
        // A checkpoint that repeats bytes counts nothing.
        try await stage.receive(60, jobs[0])
        _ = try await stage.create(1)
        try await stage.receive(40, jobs[1])
        let now = stage.fixture.time.now
        let midnight = QuotaDay(of: now).end
        let seconds = Int(midnight.timeIntervalSince(now).rounded(.up))
        await #expect(throws: StoreError.quotaExceeded(.bytesPerDay(limit: 100, seconds: seconds))) {
            try await stage.create(1)
        }
        // Queued jobs wait for the next day.
        let limits = AdmissionLimits(jobs: 100, connectionsPerHost: 100)
        let round = try await stage.store.admitJobs(limits) { _ in }
        #expect(round.admitted.isEmpty)
        #expect(round.nextWaitEnds == midnight)
        stage.fixture.time.advance(by: midnight.timeIntervalSince(now))
        #expect(try await stage.admitted().count == 2)
        _ = try await stage.create(1)
        try await stage.store.pruneTokenBytes()
        let rows = try await stage.store.read { db in try db.value("SELECT count(*) FROM token_bytes", as: Int.self) }
        #expect(rows == 0)
    }

    @Test func adoptedPartIsNotReceivedAgain() async throws {
        let stage = try await Stage(TokenQuotas(bytesPerDay: 100))
        let donor = try await stage.create(1)[0]
        #expect(try await stage.admitted() == [donor])
        try await stage.receive(60, donor)
        _ = try await stage.store.apply(.attemptStopped(.pause), to: donor)
        let creator = JobCreator(visible: .all, token: stage.token.id, quotas: stage.token.quotas)
        let order = NewJob(session: .default, spec: JobSpec(url: "https://host/0"), resumeFrom: donor)
        let heir = try await stage.store.createJobs([order], by: creator)[0]
        #expect(heir.bytesDurable == 60)
        #expect(try await stage.admitted() == [heir.id])
        try await stage.receive(99, heir.id)
        // 60 and 39: one byte is left.
        _ = try await stage.create(1)
        try await stage.receive(100, heir.id)
        await #expect(throws: StoreError.self) { try await stage.create(1) }
    }
}
