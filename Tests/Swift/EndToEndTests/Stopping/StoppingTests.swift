import Downloads
import Foundation
import TestKit
import Testing

/// SIGTERM stops the service cleanly, or soon if the disk fails.
@Suite struct StoppingTests {
    /// EX_IOERR: some changes could not be stored.
    private let unstored = ChildProcess.Ending.exited(74)

    /// - Parameter stopTimeout: seconds; the default is longer than a test waits.
    private func stage(_ faults: DiskFaults, stopTimeout: Int = 3600) async throws -> Scene {
        try await Scene(
            process: .init(arguments: ["--stop-timeout", "\(stopTimeout)"], environment: faults.environment))
    }

    // MARK: In order

    @Test(.realProcess, .onSQLite) func refusesReadinessBeforeItClosesThePort() async throws {
        let faults = try await DiskFaults()
        let scene = try await stage(faults)
        let id = try await scene.heldJob()
        let last = try await scene.lastEvent
        let listener = try EventListener(to: scene.fetchd.port, "after=0")
        try await listener.wait(for: "an event") { !$0.messages.isEmpty }
        async let poll = scene.api.get("/v1/events?after=\(last)&wait=30&type=job.deleted")
        try await scene.untilWatched()
        // The commit that ends the attempt waits.
        try faults.set("fdatasync fetchd.sqlite-wal 1 1 HOLD")
        scene.process.signal(SIGTERM)
        try await untilUnready(scene)
        #expect(try await scene.api.get("/v1/jobs/\(id)").status == 503)
        try faults.heal()
        #expect(try await scene.process.waitForEnd() == .exited(0))
        #expect(try await poll.json["events"] == [])
        try await listener.wait(for: "its end") { $0.end == .orderly }
        #expect(try await state(of: id, scene) == "queued")
    }

    @Test(.realProcess, .onSQLite, arguments: [SIGTERM, SIGINT])
    func queuesRunningJobsWithTheirBytes(_ signal: Int32) async throws {
        let faults = try await DiskFaults()
        let scene = try await stage(faults)
        let id = try await scene.heldJob()
        scene.process.signal(signal)
        #expect(try await scene.process.waitForEnd() == .exited(0))
        #expect(try await state(of: id, scene) == "queued")
        scene.gate.open()
        try await scene.process.restart()
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["resume"]["offset"] == 100_000)
        #expect(scene.fetchd.downloaded("held") == scene.bytes)
    }

    // MARK: While the disk fails

    @Test(.realProcess, .onSQLite, arguments: FailingDisk.database + [.everythingFails])
    func endsWithStatus74WhenRunningJobsCannotBeStored(_ disk: FailingDisk) async throws {
        let faults = try await DiskFaults()
        let scene = try await stage(faults)
        let id = try await scene.heldJob()
        try faults.set(disk.rules)
        #expect(try await scene.process.terminate() == unstored)
        #expect(!faults.log.isEmpty)
        try await expectSuccessAfterRestart(scene, faults, id)
    }

    @Test(.realProcess, .onSQLite, arguments: FailingDisk.database)
    func endsWithStatus74WhenAPromotionCannotBeStored(_ disk: FailingDisk) async throws {
        let faults = try await DiskFaults()
        let scene = try await stage(faults)
        let id = try await scene.heldJob()
        try faults.set(disk.rules)
        scene.gate.open()
        _ = try await eventually("the promotion to be refused") {
            scene.fetchd.log.contains("Could not store 1 promotions") ? true : nil
        }
        #expect(try await scene.process.terminate() == unstored)
        #expect(scene.fetchd.downloaded("held") == nil)
        try await expectSuccessAfterRestart(scene, faults, id)
    }

    @Test(.realProcess, .onSQLite) func endsWithStatus74WhenASuccessCannotBeStored() async throws {
        let faults = try await DiskFaults()
        let scene = try await stage(faults)
        let id = try await scene.heldJob()
        // The checkpoint of the held bytes has ended.
        try await scene.api.waitForBytes(id, atLeast: 100_000, durable: true)
        // The first sync is that of the promotion.
        try faults.set("fdatasync fetchd.sqlite-wal 2 - EIO")
        scene.gate.open()
        _ = try await eventually("the success to be refused") {
            scene.fetchd.log.contains("Could not store 1 successes") ? true : nil
        }
        #expect(try await scene.process.terminate() == unstored)
        try await expectSuccessAfterRestart(scene, faults, id)
    }

    @Test(.realProcess) func endsWhenTheDownloadsFolderFails() async throws {
        let faults = try await DiskFaults()
        let scene = try await stage(faults)
        let held = try await scene.heldJob()
        try faults.set(FailingDisk.downloadsFail.rules)
        let ending = try await scene.process.terminate()
        // A checkpoint may have come before the fault.
        let isLost = scene.fetchd.log.contains("Could not sync part")
        #expect(ending == (isLost ? unstored : .exited(0)))
        try await expectSuccessAfterRestart(scene, faults, held)
    }

    /// Every attempt posts the event again, with the same webhook-id.
    @Test(.realProcess, .onSQLite) func endsWhenADeliveryCannotBeRecorded() async throws {
        let faults = try await DiskFaults()
        let (scene, receiver) = (try await stage(faults), try WebhookReceiver())
        try await scene.api.declareWebhook(url: receiver.url, events: ["job.paused"])
        let gate = Gate()
        receiver.answer(204, after: gate)
        let id = try await scene.heldJob()
        try await scene.api.act(.pause, on: id)
        _ = try await receiver.waitFor(count: 1)
        try faults.set(FailingDisk.syncsOfTheDatabaseFail.rules)
        gate.open()
        _ = try await eventually("the delivery to be refused") {
            scene.fetchd.log.contains("Could not record delivery") ? true : nil
        }
        _ = try await scene.process.terminate()
        try faults.heal()
        try await scene.process.restart()
        _ = try await eventually("the delivery to be acknowledged") {
            let deliveries = try await scene.api.get("/v1/sessions/default/webhooks/receiver/deliveries").json
            return deliveries["deliveries"].arrayValue?.first?["state"] == "acknowledged" ? true : nil
        }
        #expect(Set(receiver.received.compactMap(\.id)).count == 1)
    }

    // MARK: Behind a load balancer

    /// The balancer learns of the stop while the service still does everything.
    @Test(.realProcess) func answersUntilTheBalancerHasNoticed() async throws {
        let scene = try await Scene(process: .init(arguments: ["--stop-delay", "3600", "--stop-timeout", "1"]))
        // They have no meaning.
        for number in [SIGUSR1, SIGUSR2] { scene.process.signal(number) }
        #expect(try await scene.api.get("/readyz").status == 200)
        scene.process.signal(SIGTERM)
        try await untilUnready(scene)
        let unready = try await scene.api.get("/readyz")
        #expect(unready.problem?.kind == "unavailable" && unready.header("Retry-After") == "1", "\(unready)")
        let id = try await scene.api.submit(scene.order())
        try await scene.api.waitForJob(id, .succeeded)
        #expect(try await scene.api.get("/livez").status == 200)
        scene.process.signal(SIGTERM)
        #expect(try await scene.process.waitForEnd() == .exited(128 + SIGTERM))
    }

    @Test(.realProcess) func stopsInOrderAfterTheDelay() async throws {
        let scene = try await Scene(process: .init(arguments: ["--stop-delay", "0.2", "--stop-timeout", "3600"]))
        _ = try await scene.heldJob()
        #expect(try await scene.process.terminate() == .exited(0))
        #expect(scene.fetchd.log.contains("Stopping in 0.2 s"))
        #expect(scene.fetchd.log.contains("Stopped."))
    }

    // MARK: While the disk hangs

    @Test(.realProcess, arguments: [SIGTERM, SIGINT])
    func endsAtOnceOnASecondSignal(_ second: Int32) async throws {
        let faults = try await DiskFaults()
        let scene = try await stage(faults)
        _ = try await scene.heldJob()
        try faults.set("fdatasync * 1 - HOLD")
        scene.process.signal(SIGTERM)
        try await untilUnready(scene)
        scene.process.signal(second)
        #expect(try await scene.process.waitForEnd() == .exited(128 + second))
    }

    @Test(.realProcess) func endsWithStatus74WhenTheStopTakesTooLong() async throws {
        let faults = try await DiskFaults()
        let scene = try await stage(faults, stopTimeout: 1)
        let id = try await scene.heldJob()
        try faults.set("fdatasync * 1 - HOLD")
        #expect(try await scene.process.terminate() == unstored)
        #expect(scene.fetchd.log.contains("The stop took longer than the 1.0 s of --stop-timeout"))
        try await expectSuccessAfterRestart(scene, faults, id)
    }

    /// The service still accepts connections at that point.
    private func untilUnready(_ scene: Scene) async throws {
        _ = try await eventually("/readyz to answer 503") {
            try await scene.api.get("/readyz").status == 503 ? true : nil
        }
    }

    // MARK: Afterwards

    /// Checks that the restarted service has the job's file once, and complete.
    private func expectSuccessAfterRestart(_ scene: Scene, _ faults: DiskFaults, _ id: String) async throws {
        try faults.heal()
        scene.gate.open()
        try await scene.process.restart()
        try await scene.api.waitForJob(id, .succeeded)
        #expect(scene.fetchd.downloaded("held") == scene.bytes)
        #expect(scene.fetchd.folder.files.filter { $0.hasPrefix("downloads/") } == ["downloads/held"])
    }

    /// The state in the database.
    private func state(of id: String, _ scene: Scene) async throws -> String {
        let program = """
            import sqlite3, sys
            print(sqlite3.connect(sys.argv[1]).execute("SELECT state FROM jobs WHERE id = ?", [sys.argv[2]]).fetchone()[0])
            """
        let outcome = try await ChildProcess.run(
            Project.python, ["-c", program, scene.fetchd.folder.path("data/fetchd.sqlite"), id])
        return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
