import Base
import Downloads
import Foundation
import TestKit
import Testing

@testable import Storage

private let day: TimeInterval = 86_400
private let tenYears: TimeInterval = 3653 * day

/// Tests jumps of the wall clock in every situation. docs/job-lifecycle.md, "The clock", has the same table.
@Suite struct ClockTests {
    // MARK: What is to come

    @Test(arguments: ClockFixture.Situation.allCases, [tenYears, day, -day, -tenYears])
    func futureTimesKeepTheirRemainingTimeAfterAJump(_ situation: ClockFixture.Situation, _ by: TimeInterval)
        async throws
    {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        let before = try await fixture.remaining()
        #expect(before.retry == 20 && before.space == 30 && before.finish == 30 && before.delivery == 300)
        #expect(before.resourceTime == 604_700 && before.expiry == 604_800 && before.failing == 0)
        #expect(before.secret == day && before.isAnswerRemembered)
        let shown = fixture.time.now + by
        try await fixture.jump(situation, by: by)
        #expect(fixture.store.time.now == shown)
        let after = try await fixture.remaining()
        if situation == .rebooted, by == day {
            // This looks the same as a day in which the machine was off.
            #expect(after.resourceTime == 604_700 - day)
            #expect(after.retry == 20 - day && after.finish == 30 - day && !after.isAnswerRemembered)
        } else {
            #expect(after == before)
        }
    }

    @Test(arguments: [day, -day]) func dueWorkRunsAfterItsDelayDespiteAJump(_ by: TimeInterval) async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        try await fixture.jump(.running, by: by)
        #expect(try await fixture.store.finishDueBatches().isEmpty)
        fixture.time.advance(by: 30)
        #expect(try await fixture.store.finishDueBatches().count == 1)
        let round = try await fixture.store.admitJobs(AdmissionLimits(jobs: 16, connectionsPerHost: 100)) { _ in }
        #expect(round.admitted.contains { $0.job.id == fixture.retrying })
    }

    /// No reader sees the new time together with times on the old clock.
    @Test func timeRunsEvenlyUntilTheJumpIsCommitted() async throws {
        let fixture = try await ClockFixture()
        let before = fixture.store.time.now
        fixture.time.jump(by: tenYears)
        fixture.time.advance(by: 5)
        #expect(fixture.store.time.now == before + 5)
        // Any write follows the clock.
        _ = try await fixture.store.declareSession(Name(trusted: "a"), configuration: nil)
        #expect(fixture.store.time.now == fixture.time.now)
        #expect(try await fixture.store.session(Name(trusted: "a")).session.createdAt == fixture.time.now)
        #expect(fixture.store.time.consumeJumps().map(\.by) == [tenYears])
        #expect(fixture.store.time.consumeJumps().isEmpty)
    }

    @Test func followsASmallDifferenceAtOnce() async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        fixture.time.jump(by: -59)
        try await fixture.store.followClock()
        #expect(fixture.store.time.now == fixture.time.now)
        #expect(try await fixture.remaining().retry == 79)
        #expect(fixture.store.time.consumeJumps().isEmpty)
    }

    /// A poll from the cache must not return the job from before the jump.
    @Test func emptiesTheJobCacheAfterAJump() async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        let known = try await fixture.store.job(fixture.retrying!)
        try await fixture.jump(.running, by: day)
        let job = try await fixture.store.job(fixture.retrying!)
        #expect(job.state.wait?.until == known.state.wait?.until.map { $0 + day })
        #expect(job.revision > known.revision)
    }

    /// A database from before the clock was stored, or one that was edited: no wait is longer than the longest possible
    /// delay.
    @Test func boundsTimesTooFarAheadAtTheStart() async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        try await fixture.store.writer.write { transaction in
            for update in [
                "jobs SET retry_at = retry_at + :d WHERE retry_at IS NOT NULL",
                "batches SET due_at = due_at + :d WHERE state = 'due'",
                "deliveries SET next_attempt_at = next_attempt_at + :d", "parts SET expires_at = expires_at + :d",
                "webhooks SET failing_since = failing_since + :d",
            ] { try transaction.run("UPDATE " + update, ["d": Int64(tenYears * 1000)]) }
        }
        try await fixture.reopen()
        try await fixture.store.followClock()
        let left = try await fixture.remaining()
        #expect(left.retry == day && left.space == 30 && left.finish == 30)
        #expect(left.delivery == 95_040 && left.expiry == 604_800 && left.failing == 0)
    }

    // MARK: What is removed because it is old

    private static let retention = Retention()

    private func prune(_ fixture: ClockFixture) async throws {
        while try await fixture.store.pruneEvents(keeping: Self.retention) {}
        while try await fixture.store.pruneIdempotencyKeys() {}
        _ = try await fixture.store.expireParts(over: nil)
    }

    private func count(_ table: String, _ fixture: ClockFixture) async throws -> Int {
        try await fixture.store.read { db in try db.value("SELECT count(*) FROM \(table)", as: Int.self) ?? -1 }
    }

    private func isWhole(_ fixture: ClockFixture) async throws -> Bool {
        let counts = try await (
            count("events", fixture), count("deliveries WHERE state = 'pending'", fixture),
            count("idempotency_keys", fixture), count("parts", fixture)
        )
        return counts == (14, 1, 1, 1)
    }

    /// F7: a clock ten years ahead removed all of this within three seconds.
    @Test(arguments: ClockFixture.Situation.allCases, [tenYears, day, -day, -tenYears])
    func removesNothingInTheHourAfterAJump(_ situation: ClockFixture.Situation, _ by: TimeInterval) async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        fixture.time.advance(by: 4000)
        try await fixture.jump(situation, by: by)
        for _ in 0..<2 {
            try await prune(fixture)
            #expect(try await isWhole(fixture))
            fixture.time.advance(by: 3599)
        }
    }

    /// Nothing is removed too early: jumps don't change the age of events.
    @Test(arguments: ClockFixture.Situation.allCases, [tenYears, -day, -tenYears])
    func jumpsDoNotChangeTheAgeOfEvents(_ situation: ClockFixture.Situation, _ by: TimeInterval) async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        try await fixture.jump(situation, by: by)
        fixture.time.advance(by: 29 * day)
        try await prune(fixture)
        #expect(try await count("events", fixture) == 14)
        #expect(try await count("deliveries WHERE state = 'pending'", fixture) == 1)
        // They were kept for a week and a day.
        #expect(try await count("parts", fixture) == 0)
        #expect(try await count("idempotency_keys", fixture) == 0)
        fixture.time.advance(by: day + 200)
        try await prune(fixture)
        #expect(try await count("events", fixture) == 0)
        #expect(try await count("clock_jumps", fixture) == 0)
    }

    @Test func removesNothingInTheHourAfterAStart() async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        fixture.time.advance(by: 31 * day)
        try await fixture.reopen()
        try await prune(fixture)
        #expect(try await isWhole(fixture))
        #expect(fixture.store.time.consumeJumps().isEmpty)
        // The caller learns the time of the next expiry.
        let next = try await fixture.store.expireParts(over: nil).next
        #expect(next == fixture.time.now + 3600)
        fixture.time.advance(by: 3600)
        try await prune(fixture)
        #expect(try await count("events", fixture) == 0)
        #expect(try await count("parts", fixture) == 0)
    }

    @Test func aJumpMakesNoFinishOverdue() async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        fixture.time.advance(by: 30)
        _ = try await fixture.store.finishDueBatches()
        let before = try #require(try await fixture.store.unacknowledgedFinishes().first)
        #expect(before.agingSince == before.since)
        try await fixture.jump(.running, by: tenYears)
        let after = try #require(try await fixture.store.unacknowledgedFinishes().first)
        #expect(after.since == before.since)
        #expect(after.agingSince == before.since + tenYears)
    }

    @Test func expiresAShortLivedPartWithinTheFirstHour() async throws {
        let fixture = try await ClockFixture()
        var configuration = SessionConfiguration()
        configuration.resumeDataTTL = 100
        _ = try await fixture.store.declareSession(.default, configuration: configuration)
        try await fixture.fill()
        fixture.time.advance(by: 90)
        try await fixture.reopen()
        #expect(try await fixture.store.expireParts(over: nil).next == fixture.time.now + 100)
        fixture.time.advance(by: 99)
        #expect(try await fixture.store.expireParts(over: nil).dropped.isEmpty)
        fixture.time.advance(by: 1)
        #expect(try await fixture.store.expireParts(over: nil).dropped.count == 1)
    }

    // MARK: Webhooks

    @Test(arguments: ClockFixture.Situation.allCases) func aJumpDisablesNoWebhook(
        _ situation: ClockFixture.Situation
    ) async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        try await fixture.jump(situation, by: tenYears)
        fixture.time.advance(by: 400)
        try await fixture.refuse()
        #expect(try await fixture.webhook.state.name == .enabled)
        for _ in 1...4 {
            fixture.time.advance(by: day)
            try await fixture.refuse()
            #expect(try await fixture.webhook.state.name == .enabled)
        }
        fixture.time.advance(by: day)
        try await fixture.refuse()
        #expect(try await fixture.webhook.state.name == .disabled)
    }

    // MARK: Moments that clients name

    private func create(_ fixture: ClockFixture, _ change: (inout JobSpec) -> Void) async throws -> JobID {
        var spec = JobSpec(url: "https://host/")
        change(&spec)
        return try #require(try await fixture.store.createJobs([NewJob(session: .default, spec: spec)]).first).id
    }

    private func overdue(_ fixture: ClockFixture) async throws -> [JobID] {
        try await fixture.store.failOverdueJobs { _ in }.outcomes.map(\.job.id)
    }

    private func admitted(_ fixture: ClockFixture) async throws -> [JobID] {
        try await fixture.store.admitJobs(AdmissionLimits(jobs: 16, connectionsPerHost: 100)) { _ in }.admitted
            .map(\.job.id)
    }

    /// F7: a job failed while the clock was ten years ahead.
    @Test(arguments: ClockFixture.Situation.allCases) func aJumpAheadUsesNoResourceTime(
        _ situation: ClockFixture.Situation
    ) async throws {
        let fixture = try await ClockFixture()
        let job = try await create(fixture) { $0.timeouts.resourceSeconds = 1000 }
        _ = try await admitted(fixture)
        fixture.time.advance(by: 100)
        // When the machine is off, only events show that time has passed.
        _ = try await create(fixture) { _ in }
        try await fixture.jump(situation, by: tenYears)
        #expect(try await overdue(fixture).isEmpty)
        fixture.time.advance(by: 899)
        #expect(try await overdue(fixture).isEmpty)
        fixture.time.advance(by: 1)
        #expect(try await overdue(fixture) == [job])
    }

    @Test(arguments: ClockFixture.Situation.allCases) func comparesDeadlinesWithTheNewClockAfterAnHour(
        _ situation: ClockFixture.Situation
    ) async throws {
        let fixture = try await ClockFixture()
        let job = try await create(fixture) { $0.deadline = fixture.time.now + 2 * day }
        let soon = try await create(fixture) { $0.deadline = fixture.time.now + 600 }
        try await fixture.jump(situation, by: tenYears)
        #expect(try await overdue(fixture).isEmpty)
        fixture.time.advance(by: 600)
        #expect(try await overdue(fixture) == [soon])
        fixture.time.advance(by: 2999)
        #expect(try await overdue(fixture).isEmpty)
        fixture.time.advance(by: 1)
        #expect(try await overdue(fixture) == [job])
        #expect(try await fixture.store.job(job).state.failure?.message.contains("deadline") == true)
    }

    @Test func doesNotFailAJobWhenTheClockIsCorrectedWithinAnHour() async throws {
        let fixture = try await ClockFixture()
        let job = try await create(fixture) { $0.deadline = fixture.time.now + 2 * day }
        try await fixture.jump(.running, by: tenYears)
        fixture.time.advance(by: 1800)
        // A restart keeps the doubt.
        try await fixture.reopen()
        #expect(try await overdue(fixture).isEmpty)
        try await fixture.jump(.stopped, by: -tenYears)
        fixture.time.advance(by: 2 * day - 1801)
        #expect(try await overdue(fixture).isEmpty)
        fixture.time.advance(by: 1)
        #expect(try await overdue(fixture) == [job])
    }

    @Test func holdsAJobForAnHourAfterAJumpPastNotBefore() async throws {
        let fixture = try await ClockFixture()
        let job = try await create(fixture) { $0.notBefore = fixture.time.now + day }
        try await fixture.jump(.running, by: 2 * day)
        #expect(try await admitted(fixture).isEmpty)
        // Times in requests after the jump are on the new clock.
        let later = try await create(fixture) { $0.notBefore = fixture.time.now + 600 }
        let round = try await fixture.store.admitJobs(AdmissionLimits(jobs: 16, connectionsPerHost: 100)) { _ in }
        #expect(round.nextWaitEnds == fixture.time.now + 60)
        fixture.time.advance(by: 600)
        #expect(try await admitted(fixture) == [later])
        fixture.time.advance(by: 3000)
        #expect(try await admitted(fixture) == [job])
    }

    @Test func holdsAJobUntilNotBeforeAfterAJumpBack() async throws {
        let fixture = try await ClockFixture()
        let job = try await create(fixture) { $0.notBefore = fixture.time.now + 60 }
        try await fixture.jump(.running, by: -day)
        fixture.time.advance(by: day + 59)
        #expect(try await admitted(fixture).isEmpty)
        fixture.time.advance(by: 1)
        #expect(try await admitted(fixture) == [job])
    }

    // MARK: Waiting

    /// A sleep until a date is a duration on the clock that never jumps.
    @Test(arguments: [tenYears, -tenYears, -day]) func sleepersWakeAfterTheRemainingTime(
        _ by: TimeInterval
    ) async throws {
        let fixture = try await ClockFixture()
        let (alarm, clock) = (AsyncAutoResetEvent(), fixture.store.time)
        let deadline = clock.now + 20
        async let wait: Void = alarm.wait(until: deadline, by: clock)
        await fixture.time.waitForSleepers()
        try await fixture.jump(.running, by: by)
        fixture.time.advance(by: 19)
        #expect(fixture.time.deadlines == [fixture.time.now + 1])
        fixture.time.advance(by: 1)
        await wait
    }
}
