import Formats
import TestKit
import Testing

/// A client that was away knows only its session's name. Declaring the session again answers its current state, also
/// right after a crash of the service.
@Suite struct ReattachTests {
    /// A session with one finished job and one that has half of its bytes.
    private func halfWay() async throws -> (scene: Scene, done: String, held: String) {
        let scene = try await Scene()
        scene.holdResumedDownloads()
        try await scene.api.declareSession("films", ["directory": "films", "finish_delay_seconds": 0.05])
        let held = try await scene.api.submit(scene.order("/held", ("session", "films")))
        let done = try await scene.api.submit(scene.order("/file", ("session", "films")))
        try await scene.api.waitForJob(done, .succeeded)
        try await scene.api.waitForBytes(held, atLeast: 100_000)
        return (scene, done, held)
    }

    @Test(.realProcess) func answersPersistedProgressWhenAttachingAfterKill() async throws {
        let (scene, done, held) = try await halfWay()
        try await scene.api.waitForSession("films", toBe: "half way in the database, too") {
            $0["progress"]["bytes_received"] == 300_000
        }
        try await scene.process.kill()
        try await scene.process.restart()
        let answer = try await scene.api.put("/v1/sessions/films")
        #expect(answer.status == 200)
        #expect(answer.json["state"] == "active")
        #expect(answer.json["progress"] == ["bytes_received": 300_000, "bytes_expected": 400_000])
        #expect(answer.json["batch"] == 1)

        let jobs = try await scene.api.get("/v1/jobs?session=films").json["jobs"]
        #expect(jobs.arrayValue?.compactMap { $0["id"].string } == [done, held])
        #expect(jobs[0]["state"] == "succeeded")
        #expect(["queued", "running"].contains(jobs[1]["state"]))
        #expect(jobs[1]["progress"]["bytes_received"] == 100_000)
        #expect(jobs[1]["progress"]["bytes_durable"] == 100_000)
        #expect(jobs[1]["progress"]["fraction"] == 0.5)

        // The download resumes from there.
        scene.gate.open()
        #expect(try await scene.api.waitForJob(held, .succeeded)["resume"]["offset"] == 100_000)
        #expect(scene.fetchd.downloaded("films/held") == scene.bytes)
        #expect(try await scene.api.waitForFinish(of: "films")["data"]["counts"]["succeeded"] == 2)
    }

    @Test func changesNothingWhenAttachingWithoutBody() async throws {
        let (scene, _, held) = try await halfWay()
        // The pause keeps the job from changing.
        #expect(try await scene.api.post("/v1/jobs/\(held)/pause").status == 200)
        let before = try await scene.api.session("films")
        let events = try await scene.api.journal(of: "films")
        let answer = try await scene.api.put("/v1/sessions/films")
        #expect(answer.status == 200)
        #expect(answer.json == before)
        #expect(try await scene.api.session("films") == before)
        #expect(try await scene.api.journal(of: "films") == events)
    }

    /// Running jobs keep the configuration with which they started; later jobs use the new one.
    @Test func replacesConfigurationWhenAttachingWithBody() async throws {
        let (scene, _, held) = try await halfWay()
        let before = try await scene.api.session("films")
        let answer = try await scene.api.put("/v1/sessions/films", ["directory": "albums"])
        #expect(answer.status == 200)
        #expect(answer.json["configuration"]["directory"] == "albums")
        // A member that is left out gets its default.
        #expect(answer.json["configuration"]["finish_delay_seconds"] == 1)
        for name in ["counts", "batch", "last_event", "created_at"] {
            #expect(answer.json[name] == before[name], "\(name)")
        }
        let next = try await scene.api.submit(scene.order("/file", ("session", "films")))
        #expect(try await scene.api.waitForJob(next, .succeeded)["file"]["path"] == "albums/file")
        scene.gate.open()
        #expect(try await scene.api.waitForJob(held, .succeeded)["file"]["path"] == "films/held")
    }

    @Test func createsEmptySessionWhenAttachingToNewName() async throws {
        let scene = try await Scene()
        let answer = try await scene.api.put("/v1/sessions/films")
        #expect(answer.status == 201)
        #expect(answer.json["state"] == "idle")
        #expect(answer.json.counts == [:])
        #expect(answer.json["progress"] == ["bytes_received": 0, "bytes_expected": nil])
        for (name, value) in [("batch", 0), ("last_event", 0), ("acknowledged_through", 0)] as [(String, JSON)] {
            #expect(answer.json[name] == value, "\(name)")
        }
    }
}
