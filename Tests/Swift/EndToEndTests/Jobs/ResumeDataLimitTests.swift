import Formats
import Foundation
import TestKit
import Testing

/// Resume data has a time to live and a size limit: expired or excess parts are removed, row and file.
@Suite struct ResumeDataLimitTests {
    private func session(_ scene: Scene, ttl: Double) async throws -> (String, JSON) {
        try await scene.api.declareSession("brief", ["resume_data_ttl_seconds": .number(ttl)])
        return ("session", "brief")
    }

    private func failedJob(_ scene: Scene, _ members: (String, JSON)...) async throws
        -> String
    {
        scene.origin.serve("/broken", .file(scene.bytes), .closing(after: 100_000))
        var order: JSONObject = ["url": .string(scene.origin.url("/broken")), "retry": ["max_attempts": 1]]
        for (name, value) in members { order[name] = value }
        let id = try await scene.api.submit(.object(order))
        try await scene.api.waitForJob(id, .failed)
        return id
    }

    private func waitUntilForgotten(_ id: String, _ scene: Scene) async throws {
        _ = try await eventually("the part of \(id) to be forgotten") {
            try await scene.api.resumeData(of: id) == nil ? true : nil
        }
    }

    /// Checks that the job restarts and reports `part_missing` once.
    private func expectAnnouncedLoss(_ id: String, _ scene: Scene) async throws {
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["resume"] == ["decision": "restarted", "why": "part_missing", "offset": 0])
        let told = try await scene.api.events(of: id).filter { $0["type"] == "job.restarted" }
        #expect(told.map { $0["data"]["why"].string } == ["part_missing"])
    }

    /// The end time and revision in the snapshot of the job's final event.
    private func ending(of id: String, _ scene: Scene) async throws -> (
        time: Date, revision: Int64
    ) {
        let snapshot = try #require(try await scene.api.events(of: id).last?["data"]["snapshot"])
        let time = try #require(snapshot["finished_at"].string.flatMap { Date(rfc3339: $0) })
        return (time, try #require(snapshot["revision"].integer))
    }

    @Test(.realProcess) func expiresPartAfterTTL() async throws {
        let scene = try await Scene()
        let id = try await failedJob(scene, try await session(scene, ttl: 0.7))
        try await waitUntilForgotten(id, scene)
        let ending = try await ending(of: id, scene)
        #expect(Date() >= ending.time.addingTimeInterval(0.7))
        // The job's document has changed, and so has its ETag.
        #expect(try await scene.api.job(id)["revision"].integer == ending.revision + 1)
        try await scene.expectStoredParts([])
        // The service remembers the loss across a restart.
        try await scene.process.kill()
        try await scene.process.restart()
        scene.origin.serve("/broken", .file(scene.bytes))
        try await scene.api.act(.retry, on: id)
        try await expectAnnouncedLoss(id, scene)
        #expect(scene.origin.requests(to: "/broken").last?.header("Range") == nil)
        #expect(scene.fetchd.downloaded("broken") == scene.bytes)
    }

    /// A paused job's part does not expire: the part of a job that failed later expires before it.
    @Test(.realProcess) func stopsExpiryWhilePaused() async throws {
        let scene = try await Scene()
        let brief = try await session(scene, ttl: 0.5)
        let paused = try await scene.pausedJob(brief)
        let failed = try await failedJob(scene, brief)
        try await waitUntilForgotten(failed, scene)
        #expect(try await scene.api.resumeData(of: paused)?["expires_at"] == .null)
        try await scene.expectStoredParts([100_000])
        // A restart does not start the expiry; a cancellation does.
        try await scene.process.kill()
        try await scene.process.restart()
        #expect(try await scene.api.resumeData(of: paused)?["expires_at"] == .null)
        try await scene.api.act(.cancel, on: paused, ["produce_resume_data": true])
        try await waitUntilForgotten(paused, scene)
        try await scene.expectStoredParts([])
    }

    /// The TTL passes while the service is stopped: the part is removed at the next start.
    @Test(.realProcess) func expiresPartThatBecameOverdueWhileStopped() async throws {
        let scene = try await Scene()
        let id = try await failedJob(scene, try await session(scene, ttl: 1))
        let expiry = try await ending(of: id, scene).time.addingTimeInterval(1)
        try await scene.process.kill()
        _ = try await eventually("the part to be overdue") { Date() > expiry ? true : nil }
        try await scene.process.restart()
        try await waitUntilForgotten(id, scene)
        try await scene.expectStoredParts([])
    }

    @Test func removesOldestPartsBeyondResumeDataMaxBytes() async throws {
        let scene = try await Scene(.init { $0.start.values.resumeDataMaxBytes = 250000 })
        let first = try await scene.pausedJob()
        let second = try await failedJob(scene)
        try await scene.expectStoredParts([100_000, 100_000])
        let third = try await scene.pausedJob()
        try await waitUntilForgotten(first, scene)
        try await scene.expectStoredParts([100_000, 100_000])
        #expect(try await scene.api.job(first)["state"] == "paused")
        let fourth = try await failedJob(scene)
        try await waitUntilForgotten(second, scene)
        try await scene.expectStoredParts([100_000, 100_000])
        for id in [third, fourth] { #expect(try await scene.api.resumeData(of: id)?["bytes_durable"] == 100_000) }
        // A job that has lost its part can still be resumed, from the first byte.
        scene.gate.open()
        try await scene.api.act(.resume, on: first)
        try await expectAnnouncedLoss(first, scene)
        #expect(scene.fetchd.downloaded("held") == scene.bytes)
        try await scene.expectStoredParts([100_000, 100_000])
    }

    /// The bytes of running jobs are not resume data: a limit of zero stops no download.
    @Test func ignoresRunningJobsInResumeDataLimit() async throws {
        let scene = try await Scene(.init { $0.start.values.resumeDataMaxBytes = 0 })
        scene.holdResumedDownloads()
        let running = try await scene.heldJob()
        let paused = try await scene.pausedJob()
        try await waitUntilForgotten(paused, scene)
        #expect(try await scene.api.job(running)["state"] == "running")
        scene.gate.open()
        try await scene.api.waitForJob(running, .succeeded)
        #expect(scene.fetchd.downloaded("held") == scene.bytes)
    }

    /// The service restarts with a smaller limit.
    @Test func appliesSmallerResumeDataLimitAtStart() async throws {
        let folder = try TemporaryFolder()
        let origin = try Origin()
        let bytes = Content.random(seed: 7, count: 200_000)
        origin.serve("/broken", .file(bytes), .closing(after: 100_000))
        let roomy = try await FetchdProcess.start(in: folder)
        var ids: [String] = []
        for _ in 0..<3 {
            let id = try await roomy.api.submit([
                "url": .string(origin.url("/broken")), "retry": ["max_attempts": 1],
            ])
            try await roomy.api.waitForJob(id, .failed)
            ids.append(id)
        }
        try await roomy.kill()
        let narrow = try await FetchdProcess.start(.init(arguments: ["--resume-data-max-bytes", "150000"]), in: folder)
        for id in ids.dropLast() {
            _ = try await eventually("the part of \(id) to be forgotten") {
                try await narrow.api.resumeData(of: id) == nil ? true : nil
            }
        }
        #expect(try await narrow.api.resumeData(of: ids[2])?["bytes_durable"] == 100_000)
    }
}
