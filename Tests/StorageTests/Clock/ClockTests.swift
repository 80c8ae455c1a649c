import Downloads
import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage

private let day: TimeInterval = 86_400
private let tenYears: TimeInterval = 3653 * day

/// Jumps of the wall clock, in every situation; docs/job-lifecycle.md, "The clock", has the same table.
@Suite struct ClockTests {
    // MARK: What is to come

    @Test(arguments: ClockFixture.Situation.allCases, [tenYears, day, -day, -tenYears])
    func whatIsToComeKeepsTheTimeItHadLeft(_ situation: ClockFixture.Situation, _ by: TimeInterval) async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        let before = try fixture.remaining()
        #expect(before.retry == 20 && before.space == 30 && before.finish == 30 && before.delivery == 300)
        #expect(before.resourceTime == 604_700 && before.expiry == 604_800 && before.failing == 0)
        #expect(before.secret == day && before.isAnswerRemembered)
        let shown = fixture.time.now + by
        try await fixture.jump(situation, by: by)
        #expect(fixture.store.time.now == shown)
        let after = try fixture.remaining()
        if situation == .rebooted, by == day {
            // Nothing tells it from a day in which the machine was off.
            #expect(after.resourceTime == 604_700 - day)
            #expect(after.retry == 20 - day && after.finish == 30 - day && !after.isAnswerRemembered)
        } else {
            #expect(after == before)
        }
    }

    @Test(arguments: [day, -day]) func whatIsDueComesWhenItWouldHaveCome(_ by: TimeInterval) async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        try await fixture.jump(.running, by: by)
        #expect(try await fixture.store.finishDueBatches().isEmpty)
        fixture.time.advance(by: 30)
        #expect(try await fixture.store.finishDueBatches().count == 1)
        let round = try await fixture.store.admitJobs(AdmissionLimits(jobs: 16, connectionsPerHost: 100)) { _ in }
        #expect(round.admitted.contains { $0.job.id == fixture.retrying })
    }

    /// Nobody ever sees the new time together with what is stored on the old one.
    @Test func timeGoesOnEvenlyUntilTheJumpIsStored() async throws {
        let fixture = try await ClockFixture()
        let before = fixture.store.time.now
        fixture.time.jump(by: tenYears)
        fixture.time.advance(by: 5)
        #expect(fixture.store.time.now == before + 5)
        // Any change will do.
        _ = try await fixture.store.declareSession(Name(trusted: "a"), configuration: nil)
        #expect(fixture.store.time.now == fixture.time.now)
        #expect(try fixture.store.session(Name(trusted: "a")).session.createdAt == fixture.time.now)
        #expect(fixture.store.time.takeJumps().map(\.by) == [tenYears])
        #expect(fixture.store.time.takeJumps().isEmpty)
    }

    @Test func aSmallDifferenceIsFollowedAtOnce() async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        fixture.time.jump(by: -59)
        try await fixture.store.followClock()
        #expect(fixture.store.time.now == fixture.time.now)
        #expect(try fixture.remaining().retry == 79)
        #expect(fixture.store.time.takeJumps().isEmpty)
    }

    /// A poll that reads the job from memory must not see what was before.
    @Test func jobsThatAreKnownAreReadAgain() async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        let known = try fixture.store.job(fixture.retrying!)
        try await fixture.jump(.running, by: day)
        let job = try fixture.store.job(fixture.retrying!)
        #expect(job.state.wait?.until == known.state.wait?.until.map { $0 + day })
        #expect(job.revision > known.revision)
    }

    /// A database from before the clock was stored, or one that was edited: nothing waits longer than it can.
    @Test func whatLiesTooFarAheadIsBroughtForwardAtTheStart() async throws {
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
        let left = try fixture.remaining()
        #expect(left.retry == day && left.space == 30 && left.finish == 30)
        #expect(left.delivery == 95_040 && left.expiry == 604_800 && left.failing == 0)
    }

    // MARK: What is removed because it is old

    private static let retention = Retention()

    private func prune(_ fixture: ClockFixture) async throws {
        while try await fixture.store.pruneEvents(keeping: Self.retention) {}
        while try await fixture.store.pruneIdempotencyKeys() {}
        _ = try await fixture.store.forgetParts(over: nil)
    }

    private func count(_ table: String, _ fixture: ClockFixture) async throws -> Int {
        try await fixture.store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? -1 }
    }

    private func isWhole(_ fixture: ClockFixture) async throws -> Bool {
        let counts = try await (
            count("events", fixture), count("deliveries WHERE state = 'pending'", fixture),
            count("idempotency_keys", fixture), count("parts", fixture)
        )
        return counts == (14, 1, 1, 1)
    }

    /// F7: ten years ahead, all of this was gone within three seconds.
    @Test(arguments: ClockFixture.Situation.allCases, [tenYears, day, -day, -tenYears])
    func nothingIsRemovedInTheHourAfterAJump(_ situation: ClockFixture.Situation, _ by: TimeInterval) async throws {
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

    /// And nothing before its time: jumps do not make events older, or younger.
    @Test(arguments: ClockFixture.Situation.allCases, [tenYears, -day, -tenYears])
    func ageIsTimeThatHasPassed(_ situation: ClockFixture.Situation, _ by: TimeInterval) async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        try await fixture.jump(situation, by: by)
        fixture.time.advance(by: 29 * day)
        try await prune(fixture)
        #expect(try await count("events", fixture) == 14)
        #expect(try await count("deliveries WHERE state = 'pending'", fixture) == 1)
        // They have been kept for a week, and a day.
        #expect(try await count("parts", fixture) == 0)
        #expect(try await count("idempotency_keys", fixture) == 0)
        fixture.time.advance(by: day + 200)
        try await prune(fixture)
        #expect(try await count("events", fixture) == 0)
        #expect(try await count("clock_jumps", fixture) == 0)
    }

    @Test func aStartAloneIsQuietToo() async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        fixture.time.advance(by: 31 * day)
        try await fixture.reopen()
        try await prune(fixture)
        #expect(try await isWhole(fixture))
        #expect(fixture.store.time.takeJumps().isEmpty)
        // Whoever waits for it is told when.
        let next = try await fixture.store.forgetParts(over: nil).next
        #expect(next == fixture.time.now + 3600)
        fixture.time.advance(by: 3600)
        try await prune(fixture)
        #expect(try await count("events", fixture) == 0)
        #expect(try await count("parts", fixture) == 0)
    }

    @Test func aFinishIsNotOverdueBecauseOfAJump() async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        fixture.time.advance(by: 30)
        _ = try await fixture.store.finishDueBatches()
        let before = try #require(try fixture.store.unacknowledged().first)
        #expect(before.agingSince == before.since)
        try await fixture.jump(.running, by: tenYears)
        let after = try #require(try fixture.store.unacknowledged().first)
        #expect(after.since == before.since)
        #expect(after.agingSince == before.since + tenYears)
    }

    @Test func aPartThatIsKeptForLessThanAnHourExpiresInTheFirstHour() async throws {
        let fixture = try await ClockFixture()
        var configuration = SessionConfiguration()
        configuration.resumeDataTTL = 100
        _ = try await fixture.store.declareSession(.default, configuration: configuration)
        try await fixture.fill()
        fixture.time.advance(by: 90)
        try await fixture.reopen()
        #expect(try await fixture.store.forgetParts(over: nil).next == fixture.time.now + 100)
        fixture.time.advance(by: 99)
        #expect(try await fixture.store.forgetParts(over: nil).dropped.isEmpty)
        fixture.time.advance(by: 1)
        #expect(try await fixture.store.forgetParts(over: nil).dropped.count == 1)
    }

    // MARK: Webhooks

    @Test(arguments: ClockFixture.Situation.allCases) func aWebhookIsNotDisabledByAJump(
        _ situation: ClockFixture.Situation
    ) async throws {
        let fixture = try await ClockFixture()
        try await fixture.fill()
        try await fixture.jump(situation, by: tenYears)
        fixture.time.advance(by: 400)
        try await fixture.refuse()
        #expect(try fixture.webhook.state.name == .enabled)
        fixture.time.advance(by: 5 * day)
        try await fixture.refuse()
        #expect(try fixture.webhook.state.name == .disabled)
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
    @Test(arguments: ClockFixture.Situation.allCases) func aJumpAheadUsesUpNoTime(
        _ situation: ClockFixture.Situation
    ) async throws {
        let fixture = try await ClockFixture()
        let job = try await create(fixture) { $0.timeouts.resourceSeconds = 1000 }
        _ = try await admitted(fixture)
        fixture.time.advance(by: 100)
        // Where the machine is switched off, time that no event came after is not known of.
        _ = try await create(fixture) { _ in }
        try await fixture.jump(situation, by: tenYears)
        #expect(try await overdue(fixture).isEmpty)
        fixture.time.advance(by: 899)
        #expect(try await overdue(fixture).isEmpty)
        fixture.time.advance(by: 1)
        #expect(try await overdue(fixture) == [job])
    }

    @Test(arguments: ClockFixture.Situation.allCases) func aDeadlineIsJudgedByTheNewClockAfterAnHour(
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
        #expect(try fixture.store.job(job).state.failure?.message.contains("deadline") == true)
    }

    @Test func aDeadlineSurvivesAClockThatIsSetRightWithinTheHour() async throws {
        let fixture = try await ClockFixture()
        let job = try await create(fixture) { $0.deadline = fixture.time.now + 2 * day }
        try await fixture.jump(.running, by: tenYears)
        fixture.time.advance(by: 1800)
        // Not even a restart makes it forget the doubt.
        try await fixture.reopen()
        #expect(try await overdue(fixture).isEmpty)
        try await fixture.jump(.stopped, by: -tenYears)
        fixture.time.advance(by: 2 * day - 1801)
        #expect(try await overdue(fixture).isEmpty)
        fixture.time.advance(by: 1)
        #expect(try await overdue(fixture) == [job])
    }

    @Test func aJobIsHeldForAnHourAfterAJumpPastItsBeginning() async throws {
        let fixture = try await ClockFixture()
        let job = try await create(fixture) { $0.notBefore = fixture.time.now + day }
        try await fixture.jump(.running, by: 2 * day)
        #expect(try await admitted(fixture).isEmpty)
        // What is asked for on the new clock is meant by it.
        let later = try await create(fixture) { $0.notBefore = fixture.time.now + 600 }
        let round = try await fixture.store.admitJobs(AdmissionLimits(jobs: 16, connectionsPerHost: 100)) { _ in }
        #expect(round.nextWaitEnds == fixture.time.now + 60)
        fixture.time.advance(by: 600)
        #expect(try await admitted(fixture) == [later])
        fixture.time.advance(by: 3000)
        #expect(try await admitted(fixture) == [job])
    }

    @Test func aJumpBackHoldsAJobByTheClock() async throws {
        let fixture = try await ClockFixture()
        let job = try await create(fixture) { $0.notBefore = fixture.time.now + 60 }
        try await fixture.jump(.running, by: -day)
        fixture.time.advance(by: day + 59)
        #expect(try await admitted(fixture).isEmpty)
        fixture.time.advance(by: 1)
        #expect(try await admitted(fixture) == [job])
    }

    // MARK: Waiting

    /// A deadline by the old clock is a duration by the one that never jumps.
    @Test(arguments: [tenYears, -tenYears, -day]) func whoSleepsWakesAfterTheTimeThatWasLeft(
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
