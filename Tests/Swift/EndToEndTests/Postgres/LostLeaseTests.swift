import Formats
import Foundation
import TestKit
import Testing

/// A node that cannot renew its lease answers nothing from memory, because other nodes may have changed it.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct LostLeaseTests {
    private let server: PostgresServer
    private let fetchd: FetchdProcess
    private let job: String

    init() async throws {
        server = try await PostgresServer(.durable)
        fetchd = try await FetchdProcess.start(.init(arguments: ["--store", server.url(), "--aria2-rpc"]))
        job = try await fetchd.api.submit(["url": "http://127.0.0.1:9/file", "not_before": "2999-01-01T00:00:00Z"])
    }

    /// Most of them could be answered from memory.
    private var paths: [String] {
        ["/v1/jobs/\(job)", "/v1/jobs", "/v1/events?after=1", "/v1/service", "/v1/sign-in", "/v1/tokens"]
    }

    private func untilTheLeaseHasEnded() async throws {
        _ = try await eventually("the end of the lease") {
            try await fetchd.api.get("/v1/jobs/\(job)").status == 503 ? true : nil
        }
    }

    private func untilAnsweredAgain() async throws {
        _ = try await eventually("the node to answer again") {
            try await fetchd.api.get("/v1/jobs/\(job)").status == 200 ? true : nil
        }
    }

    @Test func requestsGet503() async throws {
        for path in paths {
            #expect(try await fetchd.api.get(path).status == 200, "\(path)")
        }
        let start = ContinuousClock.now
        server.pause()
        let early = try await fetchd.api.get("/v1/jobs/\(job)")
        // The node renewed its lease at most three seconds before, and keeps it for seven.
        #expect(early.status == 200 || ContinuousClock.now - start > .seconds(3), "\(early)")
        try await untilTheLeaseHasEnded()
        for path in paths + ["/v1/jobs/job_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
            let answer = try await fetchd.api.get(path)
            #expect(answer.problem == .init(kind: "unavailable"), "\(path): \(answer)")
            #expect(answer.header("retry-after") == "5", "\(path)")
        }
        // A token is not judged by what memory has.
        let refused = try await fetchd.api.get("/v1/jobs", headers: [("Authorization", "Bearer unknown")])
        #expect(refused.status == 503, "\(refused)")
        let call: JSON = ["id": "1", "method": "aria2.tellActive"]
        let rpc = APIClient(baseURL: fetchd.baseURL, isRecorded: false)
        #expect(try await rpc.post("/jsonrpc", call).status == 503)
        #expect(try await fetchd.api.get("/readyz").status == 503)
        for path in ["/livez", "/", "/openapi.yaml", "/metrics"] {
            #expect(try await fetchd.api.get(path).status == 200, "\(path)")
        }
        server.resume()
        try await untilAnsweredAgain()
        #expect(try await rpc.post("/jsonrpc", call).status == 200)
    }

    @Test func waitsAndStreamsEnd() async throws {
        let last = try #require(try await fetchd.api.events().last?["id"].integer)
        _ = try await fetchd.api.job(job)
        let stream = try EventListener(to: fetchd.port)
        try await stream.wait(for: "the opening") { $0.lastID == last }
        // The first two are parked, and a task waits for the last one.
        let paths = ["/v1/jobs/\(job)", "/v1/events?after=\(last)&wait=30", "/v1/jobs/\(job)?&"]
        server.pause()
        try await withThrowingTaskGroup { group in
            for path in paths {
                group.addTask {
                    let answer = try await fetchd.api.get(path, headers: [("Prefer", "wait=30")])
                    #expect(answer.problem == .init(kind: "unavailable"), "\(path): \(answer)")
                }
            }
            try await group.waitForAll()
        }
        try await stream.wait(for: "the end") { $0.end == .orderly }
        server.resume()
        try await untilAnsweredAgain()
        let again = try EventListener(to: fetchd.port, lastEventID: last)
        try await again.wait(for: "the opening") { $0.lastID == last }
    }

    @Test(.enabled("scripts/setup has set up .venv") { await Aria2Clients.areInstalled() })
    func webSocketsEnd() async throws {
        let marker = fetchd.folder.path("subscribed")
        async let ended: Void = Aria2Clients.run("ended_socket.py", [fetchd.baseURL, marker])
        _ = try await eventually("the subscription") { FileManager.default.fileExists(atPath: marker) ? true : nil }
        server.pause()
        try await ended
        server.resume()
    }
}
