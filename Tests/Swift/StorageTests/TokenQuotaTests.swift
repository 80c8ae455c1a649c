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
                NewToken(grant: Permissions(.jobs)!, quotas: quotas), with: TokenDigest(Array(repeating: 1, count: 32)))
        }

        func create(_ count: Int, host: String = "host") async throws -> [JobID] {
            let creator = JobCreator(visible: .all, token: token.id, quotas: token.quotas)
            return try await store.createJobs(
                (0..<count).map { NewJob(session: .default, spec: JobSpec(url: "https://\(host)/\($0)")) }, by: creator
            ).map(\.id)
        }

        func entry(_ id: JobID) async throws -> QueueEntry? {
            let limits = AdmissionLimits(jobs: 100, connectionsPerHost: 100)
            return try await store.queueEntries(of: [try await store.job(id)], limits)[id]
        }

        func admitted(_ limit: Int = 100) async throws -> [JobID] {
            try await fixture.admit(limit).map(\.job.id)
        }

        /// Checkpoints a running job.
        ///
        /// - Parameters:
        ///   - bytes: that its attempt has received up to now.
        ///   - durable: bytes of its part, if they are others.
        func receive(_ bytes: Int64, _ job: JobID, admission: Int = 1, durable: Int64? = nil) async throws {
            let part = StoreFixture.part("part_\(job)", durable: durable ?? bytes, size: nil)
            try await store.checkpoint([(job: job, admission: admission, part: part)], received: [job: bytes])
        }

        func bytesToday() async throws -> Int {
            try await store.read { try $0.value("SELECT bytes FROM token_bytes", as: Int.self) } ?? 0
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
        #expect(try await stage.entry(jobs[2]) == QueueEntry(blockedBy: .serviceLimit, position: 0))
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
            NewToken(grant: Permissions(.jobs)!, quotas: quotas), with: TokenDigest(Array(repeating: 2, count: 32)))
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
        #expect(
            try await stage.entry(jobs[2]) == QueueEntry(blockedBy: .bandwidth, until: midnight, position: 0))
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
        try await stage.receive(39, heir.id, durable: 99)
        // 60 and 39: one byte is left.
        _ = try await stage.create(1)
        try await stage.receive(40, heir.id, durable: 100)
        await #expect(throws: StoreError.self) { try await stage.create(1) }
    }

    /// However an attempt ends, what it has received counts, also if no byte of it was promised.
    @Test(
        arguments: [
            .attemptStopped(.pause), .attemptStopped(.cancel(keepsPart: false)), .attemptInterrupted,
            .attemptFailed(Failure(.tooLarge, "", attempts: 1)),
            .attemptDeferred(Wait(.retry(until: Date(timeIntervalSince1970: 0)), cause: Failure(.truncated, ""))),
        ] as [JobSignal])
    func bytesCountWhenAnAttemptEnds(_ end: JobSignal) async throws {
        let stage = try await Stage(TokenQuotas(bytesPerDay: 1000))
        let job = try await stage.create(1)[0]
        _ = try await stage.admitted()
        let report = AttemptReport(admission: 1, received: 257)
        _ = try await stage.store.apply(end, to: job, report)
        #expect(try await stage.bytesToday() == 257)
        // The answer to the commit was lost.
        _ = try await stage.store.apply(end, to: job, report)
        #expect(try await stage.bytesToday() == 257)
    }

    /// Each attempt reports all of its bytes, in any order, and in one group commit or several.
    @Test func bytesOfAnAttemptCountOnce() async throws {
        let stage = try await Stage(TokenQuotas(bytesPerDay: 10_000))
        let job = try await stage.create(1)[0]
        _ = try await stage.admitted()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for bytes in [100, 300, 200] as [Int64] {
                // Restarts and overlapping connections receive more than the part has.
                group.addTask { try await stage.receive(bytes, job, durable: 50) }
            }
            try await group.waitForAll()
        }
        #expect(try await stage.bytesToday() == 300)
        _ = try await stage.store.apply(.attemptInterrupted, to: job, AttemptReport(admission: 1, received: 400))
        #expect(try await stage.bytesToday() == 400)
        #expect(try await stage.admitted() == [job])
        try await stage.receive(250, job, admission: 2)
        #expect(try await stage.bytesToday() == 650)
        // A report of the former attempt, which has ended.
        try await stage.receive(900, job, admission: 1)
        #expect(try await stage.bytesToday() == 650)
    }

    /// A refused write neither counts nor hides what a later one reports.
    @Test func bytesOfARefusedReportCountLater() async throws {
        let stage = try await Stage(TokenQuotas(bytesPerDay: 10_000))
        let job = try await stage.create(1)[0]
        _ = try await stage.admitted()
        await #expect(throws: StoreError.self) {
            try await stage.store.writer.write { transaction in
                try transaction.countReceived(100, of: try transaction.job(job))
                throw StoreError.busy
            }
        }
        #expect(try await stage.bytesToday() == 0)
        try await stage.receive(100, job)
        #expect(try await stage.bytesToday() == 100)
    }
}
