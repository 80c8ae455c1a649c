import Downloads
import Foundation
import HTTPSemantics
import TestKit
import Testing

@testable import Storage

/// Tests that rows are read back as written, and that the state machine decides what is written.
@Suite struct JobStoreTests {
    /// If the answer to a commit is lost, the attempt repeats its end. By then the job can have another attempt.
    @Test func endedAttemptChangesNothingOfTheNext() async throws {
        let fixture = try StoreFixture()
        let job = try await fixture.create()[0]
        let first = try #require(try await fixture.admit().first).job
        let end = AttemptReport(admission: first.admissions, part: StoreFixture.part("part_first"))
        _ = try await fixture.store.apply(.attemptInterrupted, to: job.id, end)
        let second = try #require(try await fixture.admit().first).job
        // The interrupted attempt does not count, so the number of attempts does not distinguish them.
        #expect(first.attempts == 1 && second.attempts == 1 && second.admissions == first.admissions + 1)
        let outcome = try await fixture.store.apply(.attemptFailed(StoreFixture.failure), to: job.id, end)
        #expect(outcome == .superseded(second))
        let promotion = JobSignal.finalizePlanned(StoreFixture.promotion(of: job.id))
        #expect(try await fixture.store.apply([(job.id, promotion, end)])[job.id] == .superseded(second))
        let late = StoreFixture.part("part_late")
        try await fixture.store.checkpoint([(job.id, first.admissions, late)])
        let isReplaced = try await fixture.store.replacePart(
            PartID("part_first"), by: late, of: job.id, admission: first.admissions)
        #expect(!isReplaced)
        try await fixture.store.beginTransfer(of: first, .restarted(.etagChanged))
        #expect(try await fixture.store.job(job.id) == second)
        try await fixture.store.checkpoint([(job.id, second.admissions, late)])
        #expect(try await fixture.store.job(job.id).part?.id == late.id)
    }

    @Test func readsEveryStateBackAsWritten() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        var spec = JobSpec(url: "https://host/a?b=c")
        spec.headers = [HeaderField(name: "X-A", value: "1")]
        spec.destination = Destination(directory: "d", filename: "f", onConflict: .replace)
        spec.tags = ["t1", "t2"]
        spec.metadata = Metadata(["k": [1, "two", nil]])
        spec.maxSize = 99
        let created = try #require(try await store.createJobs([NewJob(session: .default, spec: spec)]).first)
        spec.priority = nil
        #expect(try await store.job(created.id) == created)

        let admitted = try #require(try await fixture.admit().first).job
        #expect(try await store.job(created.id) == admitted)
        let wait = Wait(.retry(until: fixture.time.now.addingTimeInterval(9)), cause: StoreFixture.failure)
        let report = AttemptReport(part: StoreFixture.part(), madeProgress: true, resume: .resumed(offset: 2))
        let waiting = try await store.apply(.attemptDeferred(wait), to: created.id, report).job
        #expect(waiting.state == .waiting(wait))
        #expect(waiting.part?.id == StoreFixture.part().id)
        #expect(waiting.part?.expiry.countdown?.end == fixture.time.now.addingTimeInterval(604_800))
        #expect(waiting.failuresInARow == 1)
        #expect(try await store.job(created.id) == waiting)

        fixture.time.advance(by: 10)
        _ = try await fixture.admit()
        let promotion = StoreFixture.promotion(of: created.id)
        let promoting = try await store.apply(.finalizePlanned(promotion), to: created.id).job
        #expect(try await store.job(created.id) == promoting)
        #expect(try await store.neededParts()[promotion.part] == 3)
        let succeeded = try await store.apply(.finalized(nil), to: created.id).job
        #expect(try await store.job(created.id) == succeeded)
        #expect(succeeded.part == nil)
        #expect(succeeded.bytesDurable == 3)
        #expect(try await store.neededParts().isEmpty)
    }

    @Test func writesNothingForARefusedSignal() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        let outcome = try await fixture.store.apply(.finalized(nil), to: job.id)
        #expect(outcome == .refused(job, allowed: [.running]))
        #expect(try await fixture.store.job(job.id) == job)
        #expect(try await fixture.eventTypes() == ["job.created"])
    }

    @Test func aPromotionWithoutDiskSpaceWaitsAndKeepsItsPart() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        _ = try await fixture.admit()
        _ = try await fixture.store.apply(.finalizePlanned(StoreFixture.promotion(of: job.id)), to: job.id)
        let wait = Wait(.space(until: fixture.time.now.addingTimeInterval(30)), cause: StoreFixture.failure)
        let part = StoreFixture.part(durable: 10)
        let waiting = try await fixture.store.apply(.attemptDeferred(wait), to: job.id, AttemptReport(part: part)).job
        #expect(waiting.state == .waiting(wait))
        #expect(waiting.part?.id == part.id)
        fixture.time.advance(by: 30)
        #expect(try await fixture.admit().map(\.job.part?.bytesDurable) == [10])
    }

    @Test func ignoresCheckpointsOfAnEndedAttempt() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        let admitted = try #require(try await fixture.admit().first).job
        let checkpoint = [(job: job.id, admission: admitted.admissions, part: StoreFixture.part())]
        try await fixture.store.checkpoint(checkpoint)
        #expect(try await fixture.store.job(job.id).bytesDurable == 5)
        _ = try await fixture.store.apply(.attemptStopped(.cancel(keepsPart: false)), to: job.id)
        try await fixture.store.checkpoint(checkpoint)
        #expect(try await fixture.store.parts().isEmpty)
    }

    @Test func aRestartRemovesTheOldPartAndKeepsTheNewOne() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        let first = try #require(try await fixture.admit().first).job
        _ = try await fixture.store.apply(
            .attemptInterrupted, to: job.id, AttemptReport(part: StoreFixture.part("part_old")))
        let second = try #require(try await fixture.admit().first).job
        #expect(second.attempts == first.attempts)
        let new = StoreFixture.part("part_new", durable: 1)
        try await fixture.store.checkpoint([(job: job.id, admission: second.admissions, part: new)])
        try await fixture.store.beginTransfer(of: second, .restarted(.etagChanged))
        #expect(try await fixture.store.job(job.id).part == new)
        #expect(try await fixture.eventTypes().last == "job.restarted")
    }

    @Test func queuesInterruptedJobsAgainAndKeepsPromotions() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(3)
        _ = try await fixture.admit()
        _ = try await fixture.store.apply(.finalizePlanned(StoreFixture.promotion(of: jobs[1].id)), to: jobs[1].id)
        let (interrupted, promoting) = try await fixture.store.recoverInterrupted()
        #expect(interrupted == 2)
        #expect(promoting.map(\.job.id) == [jobs[1].id])
        var states: [JobState.Kind] = []
        for job in jobs { states.append(try await fixture.store.job(job.id).state.name) }
        #expect(states == [.queued, .running, .queued])
        #expect(try await fixture.store.job(jobs[0].id).attempts == 0)
    }

    @Test func pagesListsWithoutSkippingDuringInsertsAndDeletes() async throws {
        let fixture = try StoreFixture()
        let jobs = try await fixture.create(25)
        var seen: [JobID] = []
        var before: JobID?
        repeat {
            let page = try await fixture.store.jobs(JobQuery(limit: 4, before: before))
            seen += page.jobs.map(\.id)
            before = page.next
            _ = try await fixture.create(1)
            if let last = page.jobs.last {
                _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: last.id)
                _ = try await fixture.store.deleteJob(last.id)
            }
        } while before != nil
        #expect(seen == jobs.map(\.id).reversed())
    }

    @Test func filters() async throws {
        let fixture = try StoreFixture()
        let other = Name(trusted: "other")
        _ = try await fixture.store.declareSession(other, configuration: nil)
        _ = try await fixture.create(2)
        var tagged = JobSpec(url: "https://host/t")
        tagged.tags = ["blue"]
        let job = try #require(try await fixture.store.createJobs([NewJob(session: other, spec: tagged)]).first)
        _ = try await fixture.store.apply(.pauseRequested, to: job.id)
        func ids(_ query: JobQuery) async throws -> [JobID] { try await fixture.store.jobs(query).jobs.map(\.id) }
        #expect(try await ids(JobQuery(session: other)) == [job.id])
        #expect(try await ids(JobQuery(state: .paused)) == [job.id])
        #expect(try await ids(JobQuery(tag: "blue")) == [job.id])
        #expect(try await ids(JobQuery(session: .default, tag: "blue")).isEmpty)
        #expect(try await ids(JobQuery(session: other, state: .paused, tag: "blue")) == [job.id])
        #expect(try await ids(JobQuery(session: other, state: .queued, tag: "blue")).isEmpty)
        #expect(try await ids(JobQuery(state: .paused, before: job.id)).isEmpty)
        _ = try await fixture.admit(1)
        #expect(try await ids(JobQuery(session: .default, state: .running)).count == 1)
        #expect(try await ids(JobQuery(session: other, state: .running)).isEmpty)
        #expect(try await ids(JobQuery(state: .running)).count == 1)
    }

    @Test func deletesOnlyJobsThatHaveEnded() async throws {
        let fixture = try StoreFixture()
        let job = try #require(try await fixture.create().first)
        #expect(try await fixture.store.deleteJob(job.id) == nil)
        _ = try await fixture.store.apply(.cancelRequested(keepsPart: false), to: job.id)
        #expect(try await fixture.store.deleteJob(job.id)?.id == job.id)
        await #expect(throws: StoreError.noSuchJob(job.id)) { try await fixture.store.job(job.id) }
        #expect(try await fixture.eventTypes() == ["job.created", "job.cancelled", "job.deleted"])
    }
}
