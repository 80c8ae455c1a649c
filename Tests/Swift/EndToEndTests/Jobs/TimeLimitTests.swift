import Downloads
import Formats
import Foundation
import TestKit
import Testing

/// `not_before`, `deadline` and `resource_seconds`.
@Suite struct TimeLimitTests {
    // MARK: not_before

    @Test func holdsJobUntilNotBefore() async throws {
        let scene = try await Scene()
        let moment = Date(timeIntervalSinceNow: 1.5)
        let held = try await scene.api.submit(scene.order("/file", ("not_before", .time(moment))))
        let other = try await scene.api.submit(scene.order("/file?other"))
        try await scene.api.waitForJob(other, .succeeded)
        let job = try await scene.api.waitForJob(held, .succeeded)
        let began = try #require(job["started_at"].date)
        // The API's times have a precision of one millisecond.
        #expect(began.timeIntervalSince(moment) > -0.002)
        #expect(job["not_before"].date != nil)
    }

    @Test(.realProcess) func keepsJobHeldAfterKillUntilNotBeforeIsRemoved() async throws {
        let scene = try await Scene()
        let held = try await scene.api.submit(scene.order("/file", ("not_before", .moment(in: 3600))))
        try await scene.process.kill()
        try await scene.process.restart()
        let other = try await scene.api.submit(scene.order("/file?other"))
        try await scene.api.waitForJob(other, .succeeded)
        let job = try await scene.api.job(held)
        #expect(job["state"] == "queued")
        #expect(try #require(job["not_before"].date).timeIntervalSinceNow > 3000)
        #expect(scene.origin.requests.map(\.target) == ["/file?other"])
        try await scene.api.change(held, ["not_before": nil])
        #expect(try await scene.api.waitForJob(held, .succeeded)["not_before"] == nil)
    }

    @Test(.realProcess) func startsJobWhoseNotBeforePassedWhileStopped() async throws {
        let scene = try await Scene()
        let moment = Date(timeIntervalSinceNow: 1)
        let held = try await scene.api.submit(scene.order("/file", ("not_before", .time(moment))))
        try await scene.process.kill()
        _ = try await eventually("the moment") { Date() > moment ? true : nil }
        try await scene.process.restart()
        try await scene.api.waitForJob(held, .succeeded)
    }

    /// Resuming ends the pause; the job is still held until `not_before`.
    @Test func keepsJobHeldAfterPauseAndResume() async throws {
        let scene = try await Scene()
        let held = try await scene.api.submit(scene.order("/file", ("not_before", .moment(in: 3600))))
        try await scene.api.act(.pause, on: held)
        try await scene.api.act(.resume, on: held)
        let other = try await scene.api.submit(scene.order("/file?other"))
        try await scene.api.waitForJob(other, .succeeded)
        #expect(try await scene.api.job(held)["state"] == "queued")
    }

    // MARK: deadline

    @Test(arguments: [JobState.Kind.queued, .waiting, .running, .paused])
    func failsJobAtDeadlineInEveryOutstandingState(_ state: JobState.Kind) async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: state)
        let deadline = Date(timeIntervalSinceNow: 1.5)
        try await scene.api.change(id, ["deadline": .time(deadline)])
        try await expectOverdue(id, scene)
        let job = try await scene.api.job(id)
        #expect(try #require(job["finished_at"].date) >= deadline.addingTimeInterval(-0.002))
        #expect(try await scene.api.events(of: id).last?["type"] == "job.failed")
        guard state == .running else { return }
        // The part is kept, and a retry resumes it.
        #expect(job["progress"]["bytes_durable"] == 100_000)
        scene.origin.serve("/held", .file(scene.bytes))
        try await scene.api.change(id, ["deadline": nil])
        try await scene.api.act(.retry, on: id)
        #expect(try await scene.api.waitForJob(id, .succeeded)["resume"]["offset"] == 100_000)
    }

    @Test func ignoresRemovedDeadline() async throws {
        let scene = try await Scene()
        let ids = try await scene.api.submit(
            all: (0..<2).map { _ in scene.order("/held", ("deadline", .moment(in: 8))) })
        for id in ids { try await scene.api.waitForBytes(id) }
        try await scene.api.change(ids[0], ["deadline": nil])
        try await expectOverdue(ids[1], scene)
        #expect(try await scene.api.job(ids[0])["state"] == "running")
    }

    @Test func refusesPastDeadline() async throws {
        let scene = try await Scene()
        let past: JSON = .moment(in: -60)
        let new = try await scene.api.post("/v1/jobs", scene.order("/held", ("deadline", past)))
        #expect(new.status == 422 && new.problem == .init(kind: "invalid-value", pointer: "/deadline"), "\(new)")
        #expect(try await scene.isUntouched())
        let id = try await scene.job(in: .paused)
        let change = try await scene.api.patch(id, ["deadline": past])
        #expect(change.status == 422 && change.problem == .init(kind: "invalid-value", pointer: "/deadline"))
        #expect(try await scene.api.job(id)["deadline"] == .null)
    }

    // MARK: resource_seconds

    @Test(arguments: ["/held", "/busy"]) func failsRunningAndWaitingJobAfterResourceSeconds(_ path: String) async throws
    {
        let scene = try await Scene()
        let id = try await scene.api.submit(scene.order(path, ("timeouts", ["resource_seconds": 0.5])))
        try await expectOverdue(id, scene)
    }

    @Test func failsQueuedJobAfterResourceSeconds() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("narrow", ["max_concurrent_jobs": 1, "timeouts": ["resource_seconds": 8]])
        let id = try await scene.api.submit(scene.order("/held", ("session", "narrow")))
        try await scene.api.waitForBytes(id)
        try await scene.api.act(.pause, on: id)
        let other = try await scene.api.submit(
            scene.order("/held", ("session", "narrow"), ("timeouts", ["resource_seconds": 3600])))
        try await scene.api.waitForBytes(other)
        #expect(try await scene.api.act(.resume, on: id)["state"] == "queued")
        try await expectOverdue(id, scene)
        #expect(try await scene.api.job(other)["state"] == "running")
    }

    /// Resource time starts with the first attempt and stops during a pause: a job that started later runs out first.
    @Test func countsNoResourceTimeBeforeFirstAttemptOrDuringPause() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("narrow", ["max_concurrent_jobs": 1])
        let limit: (String, JSON) = ("timeouts", ["resource_seconds": 8])
        let paused = try await scene.api.submit(scene.order("/held", limit))
        try await scene.api.waitForBytes(paused)
        try await scene.api.act(.pause, on: paused)
        let running = try await scene.api.submit(scene.order("/held", ("session", "narrow")))
        try await scene.api.waitForBytes(running)
        let waiting = try await scene.api.submit(scene.order("/file", ("session", "narrow"), limit))
        let witness = try await scene.api.submit(scene.order("/held", limit))
        try await expectOverdue(witness, scene)
        #expect(try await scene.api.job(paused)["state"] == "paused")
        #expect(try await scene.api.job(waiting)["state"] == "queued")
        scene.origin.serve("/held", .file(scene.bytes))
        try await scene.api.act(.resume, on: paused)
        try await scene.api.waitForJob(paused, .succeeded)
        scene.gate.open()
        try await scene.api.waitForJob(waiting, .succeeded)
    }

    // MARK: Restarts

    @Test(.realProcess) func failsJobsWhoseDeadlinePassedWhileStopped() async throws {
        let scene = try await Scene()
        var ids: [String] = []
        let deadline = Date(timeIntervalSinceNow: 2)
        for state in [JobState.Kind.queued, .waiting, .running, .paused] {
            let id = try await scene.job(in: state)
            try await scene.api.change(id, ["deadline": .time(deadline)])
            ids.append(id)
        }
        try await scene.process.kill()
        _ = try await eventually("the deadline") { Date() > deadline ? true : nil }
        try await scene.process.restart()
        for id in ids { try await expectOverdue(id, scene) }
    }

    @Test(.realProcess) func countsResourceTimeWhileStopped() async throws {
        let scene = try await Scene()
        scene.holdResumedDownloads()
        let id = try await scene.api.submit(scene.order("/held", ("timeouts", ["resource_seconds": 4])))
        let began = try #require(try await scene.api.waitForBytes(id)["started_at"].date)
        try await scene.process.kill()
        _ = try await eventually("most of the job's time to be over") {
            Date().timeIntervalSince(began) > 3 ? true : nil
        }
        try await scene.process.restart()
        let back = Date()
        try await expectOverdue(id, scene)
        // A clock that started over would leave the job four seconds.
        #expect(try #require(await scene.api.job(id)["finished_at"].date).timeIntervalSince(back) < 3)
    }

    private func expectOverdue(
        _ id: String, _ scene: Scene, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let job = try await scene.api.waitForOutcome(id)
        #expect(job["state"] == "failed", sourceLocation: sourceLocation)
        #expect(job["failure"]["code"] == "deadline_exceeded", sourceLocation: sourceLocation)
    }
}
