import Formats
import TestKit
import Testing

/// Pause, resume and cancel of all outstanding jobs of a session, complete when the request is answered.
@Suite struct SessionActionTests {
    private let scene: Scene
    private var api: APIClient { scene.api }
    /// Jobs in every state: one at a time runs, two are queued behind it.
    private let (succeeded, failed, waiting, paused, running): (String, String, String, String, String)
    private let queued: [String]
    private var outstanding: [String] { [waiting, paused, running] + queued }

    init() async throws {
        let scene = try await Scene()
        scene.holdResumedDownloads()
        let api = scene.api
        try await api.declareSession("films", ["finish_delay_seconds": 0.05, "max_concurrent_jobs": 1])
        func submit(_ path: String) async throws -> String {
            try await api.submit(scene.order(path, ("session", "films")))
        }
        waiting = try await submit("/busy")
        try await api.waitForJob(waiting, .waiting)
        succeeded = try await submit("/file")
        try await api.waitForJob(succeeded, .succeeded)
        failed = try await submit("/missing")
        try await api.waitForJob(failed, .failed)
        running = try await submit("/held")
        try await api.waitForBytes(running, atLeast: 100_000)
        paused = try await submit("/file")
        queued = [try await submit("/file"), try await submit("/held")]
        #expect(try await api.post("/v1/jobs/\(paused)/pause").status == 200)
        self.scene = scene
        try #require(
            try await api.counts(of: "films")
                == ["succeeded": 1, "failed": 1, "waiting": 1, "running": 1, "paused": 1, "queued": 2])
    }

    private func types(of job: String) async throws -> [String] { JSON.types(of: try await api.events(of: job)) }

    @Test(.realProcess) func pausesAllOutstandingJobsBeforeAnswering() async throws {
        let others = try await scene.job(in: .running)
        let session = try await api.perform("pause", onAllOf: "films")
        #expect(session.counts == ["succeeded": 1, "failed": 1, "paused": 5])
        #expect(session["state"] == "active")
        #expect(session["finish_due_at"] == .null)
        // The job that was running has kept its bytes.
        #expect(try await api.job(running)["progress"]["bytes_durable"] == 100_000)
        #expect(try await types(of: running).last == "job.paused")
        #expect(try await api.job(waiting)["retry_at"] == .null)

        // Repeating the action succeeds and writes no event.
        let journal = try await api.journal(of: "films")
        #expect(try await api.perform("pause", onAllOf: "films") == session)
        #expect(try await api.journal(of: "films") == journal)
        for id in outstanding { #expect(try await types(of: id).count { $0 == "job.paused" } == 1) }
        // An answered action is durable.
        try await scene.process.kill()
        try await scene.process.restart()
        #expect(try await api.session("films") == session)
        // Other sessions are not affected.
        #expect(["queued", "running"].contains(try await api.job(others)["state"]))
    }

    @Test func resumesAllPausedJobs() async throws {
        try await api.perform("pause", onAllOf: "films")
        scene.busy.serve("/busy", .file(scene.bytes), .waitingBeforeHead(for: scene.gate))
        let session = try await api.perform("resume", onAllOf: "films")
        #expect(["paused", "waiting"].allSatisfy { session.counts[$0] == nil })
        #expect((session.counts["queued"] ?? 0) + (session.counts["running"] ?? 0) == 5)
        #expect(session.counts["failed"] == 1)
        // The action also succeeds while every job is queued or running.
        #expect(try await api.perform("resume", onAllOf: "films").counts["failed"] == 1)
        scene.gate.open()
        for id in outstanding { try await api.waitForJob(id, .succeeded) }
        #expect(
            try await api.job(running)["resume"] == ["decision": "resumed", "why": nil, "offset": 100_000])
        let finish = try await api.waitForFinish(of: "films")
        #expect(finish["data"]["counts"] == ["succeeded": 6, "failed": 1, "cancelled": 0])
        #expect(try await api.perform("resume", onAllOf: "films").counts == ["succeeded": 6, "failed": 1])
    }

    @Test func cancelsAllOutstandingJobsBeforeAnswering() async throws {
        let session = try await api.perform("cancel", onAllOf: "films")
        #expect(session.counts == ["succeeded": 1, "failed": 1, "cancelled": 5])
        #expect(session["state"] == "idle")
        #expect(try await scene.fetchd.partFilesAreRemoved())
        for id in outstanding { #expect(try await types(of: id).last == "job.cancelled") }
        let finish = try await api.waitForFinish(of: "films")
        #expect(finish["data"]["counts"] == ["succeeded": 1, "failed": 1, "cancelled": 5])
        for action in ["cancel", "pause", "resume"] {
            #expect(try await api.perform(action, onAllOf: "films").counts == session.counts, "\(action)")
        }
        #expect(try await api.finishes(of: "films") == [finish])
    }

    @Test func refusesUnknownSessionFieldAndAction() async throws {
        for action in ["pause", "resume", "cancel"] {
            let unknown = try await api.post("/v1/sessions/nowhere/\(action)")
            #expect(unknown.status == 404)
            #expect(unknown.problem == .init(kind: "not-found"))
            let answer = try await api.post("/v1/sessions/films/\(action)", ["colour": "blue"])
            #expect(answer.problem == .init(kind: "unknown-field", pointer: "/colour"))
            #expect(try await api.get("/v1/sessions/films/\(action)").status == 405)
        }
        #expect(try await api.post("/v1/sessions/films/retry").status == 404)
        #expect(try await api.job(running)["state"] == "running")
    }
}
