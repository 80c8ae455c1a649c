import CurlClient
import TestKit
import Testing

/// Tests of the test origin. If it violated HTTP, other tests would not detect faults.
@Suite struct OriginTests {
    let client: CurlClient
    let origin: Origin
    let bytes = Content.random(seed: 27, count: 1_000)

    init() throws {
        client = try CurlClient()
        origin = try Origin()
    }

    private func get(_ path: String, _ headers: (name: String, value: String)...) async throws -> ExchangeResponse {
        try await client.exchange(TransferRequest(url: origin.url(path), headers: headers), bodyLimit: 10_000)
    }

    @Test(arguments: [
        ("bytes=0-", 206, "bytes 0-999/1000", 0..<1_000), ("bytes=990-2000", 206, "bytes 990-999/1000", 990..<1_000),
        ("bytes=-10", 206, "bytes 990-999/1000", 990..<1_000), ("bytes=5-5", 206, "bytes 5-5/1000", 5..<6),
        ("bytes=0-1,4-5", 200, nil, 0..<1_000), ("lines=1-2", 200, nil, 0..<1_000),
    ])
    func servesRanges(range: String, status: Int, contentRange: String?, expected: Range<Int>) async throws {
        origin.serve("/file", .file(bytes))
        let response = try await get("/file", ("Range", range))
        #expect(response.status == status)
        #expect(response.headers.first { $0.name == "Content-Range" }?.value == contentRange)
        #expect(response.body == Array(bytes[expected]))
    }

    @Test(arguments: ["bytes=1000-", "bytes=5000-6000"])
    func rangeBeyondTheEndIs416(range: String) async throws {
        origin.serve("/file", .file(bytes))
        let response = try await get("/file", ("Range", range))
        #expect(response.status == 416)
        #expect(response.headers.first { $0.name == "Content-Range" }?.value == "bytes */1000")
    }

    @Test func servesConditionalRanges() async throws {
        let date = "Mon, 19 Aug 2019 15:23:14 GMT"
        origin.serve("/strong", .file(bytes, etag: "\"a\"", lastModified: date))
        origin.serve("/weak", .file(bytes, etag: "W/\"a\""))
        for (path, condition, status) in [
            ("/strong", "\"a\"", 206), ("/strong", "\"b\"", 200), ("/strong", date, 206), ("/weak", "W/\"a\"", 200),
        ] {
            let response = try await get(path, ("Range", "bytes=5-"), ("If-Range", condition))
            #expect(response.status == status, "\(path) \(condition)")
        }
    }

    @Test func behavioursCountRequestsAndCanBeCombined() async throws {
        origin.serve(
            "/file", .file(bytes, etag: "\"v1\""), .answering(503, headers: [("Retry-After", "2")]).first(2),
            .serving(.file([9], etag: "\"v2\"")).on(4...))
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await get("/file").status) }
        #expect(statuses == [503, 503, 200])
        #expect(try await get("/file").body == [9])
    }

    @Test func servesWrongRanges() async throws {
        origin.serve("/lying", .file(bytes), .contentRange("bytes 6-999/1000"))
        origin.serve("/shifted", .file(bytes), .shiftingRanges(by: -3))
        let lying = try await get("/lying", ("Range", "bytes=5-"))
        #expect(lying.headers.first { $0.name == "Content-Range" }?.value == "bytes 6-999/1000")
        #expect(lying.body == Array(bytes[5...]))
        let shifted = try await get("/shifted", ("Range", "bytes=5-"))
        #expect(shifted.headers.first { $0.name == "Content-Range" }?.value == "bytes 2-999/1000")
        #expect(shifted.body == Array(bytes[2...]))
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 200_000]) func gzipCanBeDecompressed(_ count: Int) async throws {
        let text = (0..<count).map { UInt8(ascii: "a") + UInt8($0 * $0 % 26) }
        let outcome = try await ChildProcess.run("gzip", ["-dc"], input: Gzip.member(of: text))
        #expect(outcome.succeeded, "\(outcome.errors)")
        #expect(Array(outcome.output.utf8) == text)
    }

    @Test func servesRangesWithDifferentFraming() async throws {
        origin.serve("/parts", .file(bytes), .multipartRanges)
        let parts = try await get("/parts", ("Range", "bytes=5-9"))
        #expect(parts.status == 206)
        #expect(parts.body.firstRange(of: Array("\r\n\r\n".utf8) + bytes[5...9] + Array("\r\n--".utf8)) != nil)
        origin.serve("/capped", .file(bytes), .cappingRanges(at: 10))
        #expect(try await get("/capped", ("Range", "bytes=5-")).body == Array(bytes[5..<15]))
        origin.serve("/unasked", .file(bytes), .rangeUnasked(5..<15))
        #expect(try await get("/unasked").body == Array(bytes[5..<15]))
        origin.serve("/whole", .file(bytes), .wholeFileUnderTheHeadOfARange)
        let whole = try await get("/whole", ("Range", "bytes=5-"))
        #expect(whole.headers.first { $0.name == "Content-Range" }?.value == "bytes 5-999/1000")
        #expect(whole.body == bytes)
    }

    @Test(.enabled(if: Loopback.v6.isAvailable)) func listensOnBothLoopbackAddresses() async throws {
        let other = try Origin(at: .v6)
        other.serve("/file", .file(bytes), .http10)
        let response = try await client.exchange(TransferRequest(url: other.url("/file")), bodyLimit: 10_000)
        #expect(response.body == bytes)
        #expect(other.url("/").hasPrefix("http://[::1]:"))
    }

    @Test func unknownPathIs404() async throws {
        #expect(try await get("/nowhere").status == 404)
        #expect(origin.requests(to: "/nowhere").count == 1)
    }

    @Test func sameSeedGivesTheSameContent() {
        #expect(Content.random(seed: 1, count: 20) == Array(Content.random(seed: 1, count: 1_000).prefix(20)))
        #expect(Content.random(seed: 1, count: 20) != Content.random(seed: 2, count: 20))
    }
}
