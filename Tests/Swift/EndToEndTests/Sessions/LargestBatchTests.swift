import Formats
import TestKit
import Testing

/// Ten thousand jobs in one request: all are created in the order of the request, or none.
@Suite struct LargestBatchTests {
    private static let count = 10_000

    /// No server listens at these URLs; the jobs wait behind one that is held.
    private func orders() -> [JSON] {
        (0..<Self.count).map { ["url": .string("http://127.0.0.1:1/\($0)"), "session": "films"] }
    }

    @Test(.realProcess) func createsTenThousandJobsInRequestOrder() async throws {
        let scene = try await Scene()
        scene.holdResumedDownloads()
        try await scene.api.declareSession("films", ["max_concurrent_jobs": 1])
        let held = try await scene.api.submit(scene.order("/held", ("session", "films"), ("priority", "high")))
        try await scene.api.waitForBytes(held)
        let answer = try await scene.api.post("/v1/jobs/batch", ["jobs": .array(orders())])
        #expect(answer.status == 201)
        let jobs = try #require(answer.json["jobs"].arrayValue)
        #expect(jobs.map { $0["url"].string } == (0..<Self.count).map { "http://127.0.0.1:1/\($0)" })
        let ids = jobs.compactMap { $0["id"].string }
        #expect(Set(ids).count == Self.count)

        // An answered batch is durable.
        try await scene.process.kill()
        try await scene.process.restart()
        let created = try await scene.api.journal(of: "films", type: "job.created")
        #expect(created.compactMap { $0["job"].string } == [held] + ids)
        let counts = try await scene.api.counts(of: "films")
        #expect((counts["queued"] ?? 0) + (counts["running"] ?? 0) == Int64(Self.count) + 1)
    }

    @Test func createsNoJobWhenOneIsInvalid() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("films")
        let faults: [(JSONObject, String, String)] = [
            (["url": "no address"], "invalid-value", "/jobs/7777/url"),
            (["session": "undeclared"], "unknown-session", "/jobs/7777/session"),
        ]
        for (members, kind, pointer) in faults {
            var orders = orders()
            orders[7777] = orders[7777].with(members)
            let answer = try await scene.api.post("/v1/jobs/batch", ["jobs": .array(orders)])
            #expect(answer.status == 422)
            #expect(answer.problem == .init(kind: kind, pointer: pointer))
            #expect(try await scene.isUntouched())
            let session = try await scene.api.session("films")
            #expect(session["batch"] == 0)
            #expect(session["last_event"] == 0)
        }
    }
}
