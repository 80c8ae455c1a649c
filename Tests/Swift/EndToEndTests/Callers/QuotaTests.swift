import Downloads
import Formats
import TestKit
import Testing

/// Quotas of tokens, as their holders meet them.
@Suite struct QuotaTests {
    private func client(_ scene: Scene, _ quotas: JSON) async throws -> APIClient {
        scene.api.with(token: try await scene.api.createToken("jobs", ("quotas", quotas))["token"].string)
    }

    @Test func outstandingJobsAreRefusedAsAWhole() async throws {
        let scene = try await Scene(.init(token: "first"))
        let client = try await client(scene, ["outstanding_jobs": 2])
        let key = [(name: "Idempotency-Key", value: "k")]
        let first = try await client.send("POST", "/v1/jobs", scene.order("/held"), headers: key)
        #expect(first.status == 201)
        let refused = try await client.post(
            "/v1/jobs/batch", ["jobs": [scene.order("/held"), scene.order("/held")]])
        #expect(refused.status == 429)
        #expect(refused.problem?.kind == "quota-exceeded")
        #expect(refused.header("Retry-After") == "30")
        #expect(refused.header("RateLimit-Policy") == "\"outstanding-jobs\";q=2")
        #expect(refused.header("RateLimit") == "\"outstanding-jobs\";r=1;t=30")
        #expect(try await client.post("/v1/jobs", scene.order("/held")).status == 201)
        #expect(try await client.post("/v1/jobs", scene.order("/held")).status == 429)
        // A repeated request creates nothing, so it is no new job.
        #expect(try await client.send("POST", "/v1/jobs", scene.order("/held"), headers: key).json == first.json)
        #expect(try await scene.api.post("/v1/jobs", scene.order("/held")).status == 201)
        scene.gate.open()
        _ = try await eventually("a place") {
            try await client.post("/v1/jobs", scene.order()).status == 201 ? true : nil
        }
    }

    @Test func jobsBeyondConcurrentTransfersWait() async throws {
        let scene = try await Scene(.init(token: "first"))
        let client = try await client(scene, ["concurrent_transfers": 1])
        let running = try await client.submit(scene.order("/held"))
        try await client.waitForBytes(running)
        let waiting = try await client.submit(scene.order())
        let other = try await scene.api.submit(scene.order())
        try await scene.api.waitForJob(other, .succeeded)
        #expect(try await client.job(waiting)["state"] == "queued")
        scene.gate.open()
        try await client.waitForJob(waiting, .succeeded)
    }

    @Test func bytesOfADayEndSubmissions() async throws {
        // The day does not end during the test.
        let scene = try await Scene(.init(token: "first") { $0.time = ManualTime() })
        // The file has 200,000 bytes.
        let client = try await client(scene, ["bytes_per_day": 200_000])
        try await client.waitForJob(client.submit(scene.order()), .succeeded)
        let refused = try await client.post("/v1/jobs", scene.order())
        #expect(refused.status == 429)
        #expect(refused.header("RateLimit-Policy") == "\"bytes-per-day\";q=200000;w=86400")
        #expect(try await client.get("/v1/jobs").status == 200)
    }

    /// Also if the transfer ends before the first bytes are synced.
    @Test(arguments: [JobSignal.Action.cancel, .pause, nil])
    func bytesOfADayCountHoweverATransferEnds(_ action: JobSignal.Action?) async throws {
        let scene = try await Scene(
            .init(token: "first") {
                $0.time = ManualTime()
                $0.engine.checkpointInterval = 3600
            })
        let client = try await client(scene, ["bytes_per_day": 100_000])
        let job = try await client.submit(scene.order("/held"))
        try await client.waitForBytes(job, atLeast: 100_000)
        #expect(try await client.post("/v1/jobs", scene.order()).status == 201)
        if let action {
            try await client.act(action, on: job)
        } else {
            #expect(try await client.delete("/v1/jobs/\(job)").status == 204)
        }
        #expect(try await client.post("/v1/jobs", scene.order()).status == 429)
    }

    @Test func requestsOfASecondAreLimited() async throws {
        let time = ManualTime()
        let scene = try await Scene(.init(token: "first") { $0.time = time })
        let client = try await client(scene, ["requests_per_second": 3])
        func statuses() async throws -> [Int] {
            var statuses: [Int] = []
            for _ in 0..<4 { statuses.append(try await client.get("/v1/jobs").status) }
            return statuses
        }
        #expect(try await statuses() == [200, 200, 200, 429])
        let refused = try await client.get("/v1/jobs")
        #expect(refused.header("Retry-After") == "1")
        #expect(refused.header("RateLimit") == "\"requests-per-second\";r=0;t=1")
        #expect(try await scene.api.get("/v1/jobs").status == 200)
        time.advance(by: 1)
        #expect(try await statuses() == [200, 200, 200, 429])
    }

    @Test(
        arguments: [
            (["requests_per_second": 0], "/quotas/requests_per_second"),
            (["outstanding_jobs": -1], "/quotas/outstanding_jobs"),
            (["bytes_per_day": 1.5], "/quotas/bytes_per_day"), (["disk": 1], "/quotas/disk"),
        ] as [(JSON, String)])
    func refusesInvalidQuota(_ quotas: JSON, _ pointer: String) async throws {
        let scene = try await Scene(.init(token: "first"))
        let answer = try await scene.api.post("/v1/tokens", ["scope": "read", "quotas": quotas])
        #expect(
            answer.problem == .init(kind: "invalid-value", pointer: pointer)
                || answer.problem == .init(kind: "unknown-field", pointer: pointer))
    }
}
