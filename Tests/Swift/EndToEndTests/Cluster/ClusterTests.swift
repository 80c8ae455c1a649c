import Formats
import Foundation
import TestKit
import Testing

/// Clients may call any node.
@Suite(.enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(3))) struct ClusterTests {
    private let origin: Origin
    private let cluster: TestedCluster

    init() async throws {
        origin = try Origin()
        cluster = try await TestedCluster(of: 2, ["--max-concurrent-jobs", "1"])
    }

    /// Two downloads of two minutes: one on each node.
    private func running() async throws -> [String] {
        for index in 0..<2 {
            origin.serve(
                "/\(index)", .file(Content.random(seed: UInt64(index), count: 3_000_000)),
                .limited(bytesPerSecond: 25_000))
        }
        let jobs = try await cluster.submit((0..<2).map { origin.url("/\($0)") })
        try await cluster.wait(for: 2, "running")
        return jobs
    }

    @Test func actionsReachJobsOfOtherNodes() async throws {
        let jobs = try await running()
        for (job, action) in zip(jobs, ["pause", "cancel"]) {
            for node in cluster.nodes {
                let answer = try await node.api.post("/v1/jobs/\(job)/\(action)")
                #expect(answer.status == 200, "\(answer)")
            }
        }
        for node in cluster.nodes {
            #expect(try await node.api.job(jobs[0])["state"] == "paused")
            #expect(try await node.api.job(jobs[1])["state"] == "cancelled")
        }
    }

    @Test func patchReachesJobsOfOtherNodes() async throws {
        var jobs: [String] = []
        for index in 0..<2 {
            origin.serve("/\(index)", .file(Content.random(seed: UInt64(index), count: 1_000_000)))
            let job: JSON = ["url": .string(origin.url("/\(index)")), "rate_limit_bytes_per_second": 1000]
            jobs.append(try await cluster.nodes[0].api.submit(job))
        }
        try await cluster.wait(for: 2, "running")
        for job in jobs {
            let answer = try await cluster.nodes[0].api.send(
                "PATCH", "/v1/jobs/\(job)", ["rate_limit_bytes_per_second": nil])
            #expect(answer.status == 200, "\(answer)")
        }
        // At 1,000 bytes per second they would take 17 minutes.
        try await cluster.wait(for: 2, "succeeded")
    }

    @Test func deleteReachesJobsOfOtherNodes() async throws {
        for job in try await running() {
            let answer = try await cluster.nodes[0].api.delete("/v1/jobs/\(job)")
            #expect(answer.status == 204, "\(answer)")
        }
        #expect(try await cluster.nodes[1].api.get("/v1/jobs").json["jobs"].count == 0)
    }

    @Test func waitAtOneNodeSeesTheEndOnAnother() async throws {
        origin.serve("/film", .file(Content.random(seed: 1, count: 200_000)), .limited(bytesPerSecond: 100_000))
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in cluster.nodes {
                group.addTask {
                    let job = try await node.api.waitForJob(job, .succeeded)
                    #expect(job["state"] == "succeeded", "\(job.written)")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func removalOfManyReachesJobsOfOtherNodes() async throws {
        let jobs = try await running()
        let answer = try await cluster.nodes[0].api.post("/v1/jobs/remove", ["ids": .strings(jobs)])
        #expect(answer.status == 200 && answer.json["changed"] == 2 && answer.json["refused"] == 0, "\(answer)")
        #expect(try await cluster.nodes[1].api.get("/v1/jobs").json["jobs"].count == 0)
    }

    /// The end of the last job reaches the waits at each node, and a progress does not end them.
    @Test func waitForTheEndAtOneNodeSeesItOnAnother() async throws {
        origin.serve("/film", .file(Content.random(seed: 1, count: 200_000)), .limited(bytesPerSecond: 100_000))
        let job = try await cluster.submit([origin.url("/film")])[0]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in cluster.nodes {
                for (path, state) in [
                    ("/v1/jobs/\(job)?until=ended", "succeeded"), ("/v1/sessions/default?until=idle", "idle"),
                ] {
                    group.addTask {
                        let answer = try await node.api.get(path, headers: [("Prefer", "wait=30")])
                        #expect(answer.json["state"].string == state, "\(answer)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func settingOfOneNodeAppliesToAll() async throws {
        let answer = try await cluster.nodes[0].api.send(
            "PATCH", "/v1/service", ["max_connections_per_host": 3])
        #expect(answer.status == 200, "\(answer)")
        _ = try await eventually("the setting on the other node") {
            try await cluster.nodes[1].api.get("/v1/service").json["max_connections_per_host"] == 3
                ? true : nil
        }
    }

    @Test func bothNodesContinueAfterTheServerWasAway() async throws {
        _ = try await running()
        try await cluster.server.kill()
        for node in cluster.nodes {
            let answer = try await node.api.post("/v1/jobs", ["url": "http://127.0.0.1:1/"])
            #expect(answer.status == 503 && answer.header("retry-after") != nil, "\(answer)")
        }
        try await cluster.server.start()
        for node in cluster.nodes {
            _ = try await eventually("the node to be ready") {
                try await node.api.get("/readyz").status == 200 ? true : nil
            }
        }
        try await cluster.wait(for: 2, "running")
        #expect(cluster.nodes.allSatisfy { $0.isRunning && !$0.log.contains("fetchd ends with status 75") })
    }
}
