import TestKit
import Testing

/// The real service on a machine whose wall clock jumps; the table is in docs/job-lifecycle.md, "The clock".
@Suite struct ClockJumpTests {
    /// A service, its clock, and a consumer that refuses every delivery, so that deliveries stay pending.
    private struct Trial {
        let clock: WallClock
        let scene: Scene
        let consumer: WebhookReceiver

        init() async throws {
            clock = try await WallClock()
            consumer = try WebhookReceiver()
            scene = try await Scene(
                process: .init(arguments: ["--webhook-retry-delays", "0,3600"], environment: clock.environment))
            consumer.answer(503)
        }

        func restart(_ days: Int) async throws {
            try await scene.process.kill()
            try clock.set(days: days)
            try await scene.process.restart()
            try await waitForWarning()
        }

        func jump(_ days: Int) async throws {
            try clock.set(days: days)
            try await waitForWarning()
        }

        /// Waits until the service has noticed the jump and acted on it.
        private func waitForWarning() async throws {
            _ = try await eventually("a warning that the clock has jumped") {
                scene.fetchd.log.contains("The clock has jumped") ? true : nil
            }
        }

        /// A job that waits a few seconds for its next attempt, which succeeds.
        func waitingJob() async throws -> String {
            scene.origin.serve(
                "/later", .file(scene.bytes), .answering(503, headers: [("Retry-After", "3")]).once)
            let job = try await scene.api.submit(scene.order("/later"))
            try await scene.api.waitForJob(job, toBe: "through with its first attempt") {
                $0["state"] == "waiting" || $0["state"] == "succeeded" || ($0["attempts"].integer ?? 0) > 1
            }
            return job
        }

        /// A session whose batch is due in a few seconds.
        func dueBatch() async throws -> String {
            try await scene.api.declareSession("due", ["finish_delay_seconds": 3])
            let job = try await scene.api.submit(scene.order("/file", ("session", "due")))
            try await scene.api.waitForJob(job, .succeeded)
            return "due"
        }
    }

    /// F7: a start with the clock ten years ahead removed all of this within three seconds.
    @Test(.onSQLite, arguments: [WallClock.tenYears, -WallClock.tenYears, 1, -1])
    func keepsEventsAndPendingDeliveriesWhenClockJumpedBeforeStart(_ days: Int) async throws {
        let trial = try await Trial()
        let (api, receiver) = (trial.scene.api, trial.consumer)
        try await api.declareWebhook(url: receiver.url, events: ["job.*", "session.*"])
        let job = try await api.submit(trial.scene.order())
        try await api.waitForJob(job, .succeeded)
        // The finish waits for the other deliveries, and was never attempted.
        let finish = try await api.waitForFinish(of: "default")
        _ = try await receiver.waitFor(count: 3)
        try await trial.restart(days)
        let later = try await trial.scene.api.submit(trial.scene.order())
        try await trial.scene.api.waitForJob(later, .succeeded)
        #expect(try await trial.scene.api.events().contains { $0["id"] == finish["id"] })
        #expect(try await trial.scene.api.events(of: job).count == 3)
        let pending = try await trial.scene.api.deliveries().filter { $0["state"] == "pending" }
        #expect(pending.contains { $0["event"] == finish["id"] })
        #expect(pending.count >= 4)
    }

    @Test(.onSQLite, arguments: [true, false], [-1, -WallClock.tenYears, 1, WallClock.tenYears])
    func finishesBatchAndRetriesOnTimeAfterClockJump(isRunning: Bool, _ days: Int) async throws {
        let trial = try await Trial()
        let (job, session) = (try await trial.waitingJob(), try await trial.dueBatch())
        if isRunning { try await trial.jump(days) } else { try await trial.restart(days) }
        try await trial.scene.api.waitForJob(job, .succeeded)
        _ = try await trial.scene.api.waitForFinish(of: session)
    }

    /// F7: a jump at run time failed a job with `deadline_exceeded`, as if `timeouts.resource_seconds` were over.
    @Test(.onSQLite, arguments: [true, false])
    func countsNoResourceTimeForClockJump(isRunning: Bool) async throws {
        let trial = try await Trial()
        let api = trial.scene.api
        trial.scene.holdResumedDownloads()
        let running = try await trial.scene.job(in: .running)
        let waiting = try await trial.scene.job(in: .waiting)
        if isRunning {
            try await trial.jump(WallClock.tenYears)
        } else {
            try await trial.restart(WallClock.tenYears)
        }
        // A near deadline makes the service check all jobs.
        let pressed = try await trial.scene.api.submit(
            trial.scene.order("/missing", ("timeouts", ["resource_seconds": 30])))
        try await trial.scene.api.waitForJob(pressed, .failed)
        _ = api
        #expect(try await trial.scene.api.job(waiting)["state"] == "waiting")
        trial.scene.gate.open()
        let job = try await trial.scene.api.waitForJob(running, .succeeded)
        // A jump at run time does not even break the connection.
        if isRunning { #expect(job["attempts"] == 1) }
    }
}
