import Formats
import TestKit
import Testing

/// The submitting client is gone for good. Another process that knows only the session's name must learn everything
/// from the journal: every event once, in order, with a full snapshot of each ended job.
@Suite struct AbsentClientTests {
    /// Submits as a client that dies right after it; the first batch is acknowledged, the second is running.
    private func submitAndVanish(_ scene: Scene) async throws -> (
        first: [String], second: [String]
    ) {
        let client = scene.api
        try await client.declareSession("films", ["finish_delay_seconds": 0.05])
        let first = try await client.submit(all: [scene.order("/file?signature=1", ("session", "films"))])
        let finish = try await client.waitForFinish(of: "films")
        try await client.acknowledge("films", through: finish["id"].integer)
        let second = try await client.submit(
            all: ["/file?signature=2", "/missing?signature=3", "/held?signature=4", "/file"].map {
                scene.order($0, ("session", "films"), ("metadata", ["path": .string($0)]))
            })
        return (first, second)
    }

    @Test(.realProcess, arguments: [false, true])
    func readsAllEventsSinceAcknowledgementFromAnotherProcess(_ isKilled: Bool) async throws {
        let scene = try await Scene()
        let (first, second) = try await submitAndVanish(scene)
        try await scene.api.waitForBytes(second[2])
        if isKilled {
            try await scene.process.kill()
            try await scene.process.restart()
        }
        scene.gate.open()

        let stranger = APIClient(baseURL: scene.fetchd.baseURL)
        try await stranger.waitForFinish(of: "films", batch: 2)
        let session = try await stranger.declareSession("films")
        let start = try #require(session["acknowledged_through"].integer)
        let events = try await stranger.journal(of: "films", after: start, pagesOf: 3)

        // Every event once and in order, to the end, and none that was acknowledged before.
        let ids = events.compactMap { $0["id"].integer }
        #expect(ids == Set(ids).sorted() && ids.count == events.count)
        #expect(ids.allSatisfy { $0 > start })
        #expect(session["last_event"].integer == ids.last)
        #expect(!events.contains { $0["job"].string == first[0] })
        let whole = try await stranger.journal(of: "films")
        #expect(Array(whole.drop { ($0["id"].integer ?? 0) <= start }) == events)

        // No job is missing, and none has ended twice.
        for id in second {
            let types = JSON.types(of: events.filter { $0["job"].string == id })
            #expect(types.first == "job.created")
            #expect(types.count { ["job.succeeded", "job.failed", "job.cancelled"].contains($0) } == 1)
            #expect(types.last == (id == second[1] ? "job.failed" : "job.succeeded"))
        }
        #expect(events.last?["type"] == "session.finished")
        #expect(events.last?["data"]["counts"] == ["succeeded": 3, "failed": 1, "cancelled": 0])
    }

    /// The snapshot equals the job document, except for the query of its URLs, which may be a secret.
    @Test func containsWholeJobInTerminalEvent() async throws {
        let scene = try await Scene()
        let (_, jobs) = try await submitAndVanish(scene)
        try await scene.api.waitForBytes(jobs[2])
        #expect(try await scene.api.post("/v1/jobs/\(jobs[2])/cancel").status == 200)
        try await scene.api.waitForFinish(of: "films", batch: 2)
        for (id, end) in zip(jobs, ["succeeded", "failed", "cancelled", "succeeded"]) {
            let event = try #require(try await scene.api.events(of: id).last)
            #expect(event["type"].string == "job.\(end)")
            var job = try await scene.api.job(id)
            let url = try #require(job["url"].string)
            let redacted = JSON.string(url.prefix { $0 != "?" } + (url.contains("?") ? "?..." : ""))
            job = job.with(["url": redacted])
            if job["receipt"] != .null { job = job.with(["receipt": job["receipt"].with(["final_url": redacted])]) }
            #expect(event["data"]["snapshot"] == job)
        }
    }
}
