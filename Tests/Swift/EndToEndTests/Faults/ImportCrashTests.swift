import Formats
import Foundation
import TestKit
import Testing

/// Imports of the real program that are killed, stopped and repeated.
@Suite struct ImportCrashTests {
    private static let jobs = 6_000

    private func list(_ origin: Origin) -> [UInt8] {
        let lines = (0..<Self.jobs).map { "{\"url\": \"\(origin.url("/\($0)"))\", \"state\": \"paused\"}\n" }
        return Array(lines.joined().utf8)
    }

    private func send(_ list: [UInt8], to api: APIClient) async -> JSON? {
        let answer = try? await api.send(
            "POST", "/v1/jobs/import", bytes: list, headers: [("Content-Type", "application/x-ndjson")])
        return answer?.status == 201 ? answer?.json : nil
    }

    private func count(_ fetchd: FetchdProcess) async throws -> Int {
        let counts = try await fetchd.api.get("/v1/sessions/default").json["counts"]
        return Int(counts["paused"].integer ?? 0)
    }

    /// The service is killed while it receives, judges or creates the jobs. Whether the client repeats the request or not, each
    /// line becomes one job, and one finish covers all of them.
    @Test(arguments: [UInt64(20_261_127)])
    func importsEachLineOnceAcrossTwentyKills(_ seed: UInt64) async throws {
        var random = SplitMix64(state: seed)
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        let list = list(origin)
        for _ in 0..<20 {
            let request = Task { [api = fetchd.api] in await send(list, to: api) }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...400, using: &random)))
            try await fetchd.kill()
            _ = await request.value
            try await fetchd.restart()
            #expect(try await count(fetchd) <= Self.jobs)
        }
        let answer = try #require(await send(list, to: fetchd.api))
        #expect((answer["created"].integer ?? 0) + (answer["existing"].integer ?? 0) == Int64(Self.jobs), "\(answer)")
        #expect(try await count(fetchd) == Self.jobs)
        #expect(await send(list, to: fetchd.api) == answer)
        #expect(!fetchd.folder.files.contains { $0.contains("fetchd.list.") })

        _ = try await fetchd.api.post("/v1/sessions/default/cancel")
        let finish = try await eventually("the finish") {
            try await fetchd.api.get("/v1/events?type=session.finished&limit=10").json["events"].arrayValue?.first
        }
        #expect(finish["data"]["counts"]["cancelled"] == .integer(Int64(Self.jobs)))
    }

    /// A complete list belongs to the service: it goes on without its client, and after a stop.
    @Test func continuesWithoutItsClient() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        let list = list(origin)
        let request = Task { [api = fetchd.api] in await send(list, to: api) }
        _ = try await eventually("the first jobs") { try await count(fetchd) > 0 ? true : nil }
        try await fetchd.stop()
        _ = await request.value
        try await fetchd.restart()
        _ = try await eventually("all jobs") { try await count(fetchd) == Self.jobs ? true : nil }
        _ = try await eventually("the list to be removed") {
            fetchd.folder.files.contains { $0.contains("fetchd.list.") } ? nil : true
        }
    }

    /// A client that goes away in the middle of its list has imported nothing.
    @Test func importsNothingOfAListThatIsCut() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        let list = list(origin)
        let port = try #require(fetchd.baseURL.split(separator: ":").last.flatMap { UInt16($0) })
        let head = "POST /v1/jobs/import HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
        let half = String(decoding: list.prefix(list.count / 2), as: UTF8.self)
        do {
            let client = try SilentClient(port, head + "Content-Length: \(list.count)\r\n\r\n" + half)
            defer { client.close() }
            _ = try await eventually("the list to be staged") {
                fetchd.folder.files.contains { $0.contains("fetchd.list.") } ? true : nil
            }
        }
        _ = try await eventually("the list to be removed") {
            fetchd.folder.files.contains { $0.contains("fetchd.list.") } ? nil : true
        }
        #expect(try await count(fetchd) == 0)
    }

}
