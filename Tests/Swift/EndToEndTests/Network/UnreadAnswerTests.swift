import Formats
import Foundation
import TestKit
import Testing

/// Clients that ask for the largest answers, and never read them.
@Suite struct UnreadAnswerTests {
    private static let clients = 64
    /// Documents of about 17 kB.
    private static let jobs = 400

    /// The requests, without the line of the host and the token.
    private static let requests: [(head: String, body: String)] = {
        let list = #"{"methodName":"aria2.tellWaiting","params":[0,1000]}"#
        let calls = [String](repeating: list, count: 300).joined(separator: ",")
        let batch = [String](repeating: #"{"id":1,"method":"aria2.tellWaiting","params":[0,1000]}"#, count: 300)
        let posts = [
            #"{"id":1,"method":"system.multicall","params":[[\#(calls)]]}"#, "[\(batch.joined(separator: ","))]",
        ]
        let paths = [
            "/v1/jobs?limit=1000", "/v1/jobs?limit=999&session=aria2", "/v1/events?limit=1000", "/v1/sessions",
            "/metrics",
            "/v1/throughput", "/openapi.yaml", "/",
        ]
        return posts.map { ("POST /jsonrpc HTTP/1.1\r\nContent-Length: \($0.utf8.count)", $0) }
            + paths.map { ("GET \($0) HTTP/1.1", "") }
            + [("GET /v1/events?after=0 HTTP/1.1\r\nAccept: text/event-stream", "")]
    }()

    @Test(.enabled("needs 2,000 file descriptors") { FileDescriptors.limit >= 2_000 })
    func takeABoundedPartOfTheMemory() async throws {
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--aria2-rpc"], token: "first"))
        let idle = fetchd.residentBytes
        try await fillQueue(fetchd.api)
        let reader = try #require(try await fetchd.api.createToken("read")["token"].string)
        let fields = "Host: localhost\r\nAuthorization: Bearer \(reader)\r\n\r\n"
        let before = try await answered(fetchd.api)
        let silent = try Self.requests.flatMap { request in
            try (0..<Self.clients).map { _ in
                try SilentClient(fetchd.port, "\(request.head)\r\n\(fields)\(request.body)")
            }
        }
        var (most, own) = (0, 0)
        _ = try await eventually("all answers to be decided on") {
            most = max(most, fetchd.residentBytes)
            // The requests of other callers are answered meanwhile.
            #expect(try await fetchd.api.get("/livez").status == 200)
            #expect(try await fetchd.api.get("/v1/jobs?limit=100").status == 200)
            let call: JSON = ["id": 1, "method": "aria2.tellWaiting", "params": ["token:first", 0, 100]]
            #expect(
                try await APIClient(baseURL: fetchd.baseURL, isRecorded: false).post("/jsonrpc", call).status == 200)
            defer { own += 4 }
            return try await answered(fetchd.api) - before - own >= silent.count ? true : nil
        }
        most = max(most, fetchd.residentBytes)
        #expect(most - idle < 300 << 20, "\((most - idle) >> 20) MiB above idle")
        withExtendedLifetime(silent) {}
        try await fetchd.stop()
    }

    private func fillQueue(_ api: APIClient) async throws {
        try await api.declareSession("aria2")
        let (path, note) = (String(repeating: "a", count: 8_000), String(repeating: "b", count: 8_000))
        let jobs = (0..<Self.jobs).map { number -> JSON in
            [
                "session": "aria2", "url": .string("http://127.0.0.1:1/\(number)/\(path)"),
                "metadata": ["note": .string(note)], "not_before": "2100-01-01T00:00:00Z",
            ]
        }
        let answer = try await api.post("/v1/jobs/batch", ["jobs": .array(jobs)])
        #expect(answer.status == 201)
    }

    /// The number of requests that were answered.
    private func answered(_ api: APIClient) async throws -> Int {
        let scrape = try await Scrape(of: api)
        let counts = scrape.values.filter { $0.key.hasPrefix("fetchd_http_requests_total") }
        return Int(counts.values.reduce(0, +))
    }
}
