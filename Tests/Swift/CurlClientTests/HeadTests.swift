import CurlClient
import TestKit
import Testing

/// Heads, interim heads, trailers and rejected responses.
@Suite struct HeadTests {
    let client: CurlClient
    let origin: Origin

    init() throws {
        client = try CurlClient()
        origin = try Origin()
    }

    private func reject(_ path: String, rangeStart: Int64? = nil) async throws -> (TransferResult, Recorder) {
        try await client.run(
            TransferRequest(url: origin.url(path), rangeStart: rangeStart),
            Recorder { $0.status == 206 ? .accept : .reject })
    }

    @Test func rejectedHeadDeliversNoBody() async throws {
        let page = Content.random(seed: 4, count: 5_000_000)
        origin.serve("/gone", .fixed(status: 404, body: page))
        origin.serve("/range", .file(page), .ignoringRanges)
        origin.serve("/beyond", .file(page))
        for (path, start, status) in [("/gone", nil, 404), ("/range", 7, 200), ("/beyond", Int64(9_000_000), 416)] {
            let (result, recorder) = try await reject(path, rangeStart: start)
            #expect(result.outcome == .rejected)
            #expect(result.head?.status == status)
            #expect(result.bytesReceived == 0)
            #expect(recorder.body.isEmpty)
        }
    }

    @Test func rejectedHeadEndsTheTransferAtOnce() async throws {
        origin.serve("/slow", .file(Content.random(seed: 5, count: 1_000)), .stalling(after: 10))
        let (result, _) = try await reject("/slow")
        #expect(result.outcome == .rejected)
        #expect(await origin.waitForSilence())
    }

    @Test func smallRejectedBodyKeepsTheConnectionOpen() async throws {
        origin.serve("/gone", .fixed(status: 404))
        origin.serve("/fine", .file([1]))
        _ = try await reject("/gone")
        let (result, _) = try await client.run(origin.url("/fine"))
        #expect(result.outcome == .completed)
        #expect(origin.connectionCount == 1)
    }

    @Test func skipsInterimHeads() async throws {
        origin.serve("/file", .file([1, 2]), .interim([100, 102, 103]))
        let (result, recorder) = try await client.run(origin.url("/file"))
        #expect(result.outcome == .completed)
        #expect(recorder.state.current.heads.map(\.status) == [200])
        #expect(recorder.head?.value(of: "X-Interim") == nil)
        #expect(recorder.body == [1, 2])
    }

    @Test func status101IsAProtocolError() async throws {
        origin.serve("/file", .file([1, 2]), .interim([101]))
        let (result, recorder) = try await client.run(origin.url("/file"))
        guard case .protocolError = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(recorder.body.isEmpty)
    }

    @Test func trailersAreNotDeliveredAsAHead() async throws {
        let bytes = Content.random(seed: 6, count: 100_000)
        origin.serve("/file", .file(bytes), .chunked(trailers: [("X-Checksum", "1"), ("ETag", "\"late\"")]))
        let (result, recorder) = try await client.run(origin.url("/file"))
        #expect(result.outcome == .completed)
        #expect(recorder.body == bytes)
        #expect(recorder.head?.value(of: "X-Checksum") == nil)
        #expect(recorder.state.current.violations.isEmpty)
    }

    @Test(arguments: [(300_000, 1_000), (150_000, 140_000)])
    func headBeyondTheLimitIsHeadTooLarge(bytes: Int, fieldBytes: Int) async throws {
        origin.serve("/file", .file([1]), .hugeHead(bytes: bytes, fieldBytes: fieldBytes))
        let (result, recorder) = try await client.run(origin.url("/file"))
        #expect(result.error == .headTooLarge)
        #expect(recorder.head == nil)
    }

    @Test func acceptsALargeHeadWithinTheLimit() async throws {
        origin.serve("/file", .file([1]), .hugeHead(bytes: 100_000))
        let (result, recorder) = try await client.run(origin.url("/file"))
        #expect(result.outcome == .completed)
        #expect(recorder.head?.value(of: "X-Padding-99")?.count == 1_000)
    }

    @Test func acceptsASlowHead() async throws {
        origin.serve("/file", .file([1, 2]), .slowHead(every: .milliseconds(1)))
        let (result, recorder) = try await client.run(origin.url("/file"))
        #expect(result.outcome == .completed)
        #expect(recorder.body == [1, 2])
    }

    @Test func ignoresBytesBeyondContentLength() async throws {
        origin.serve("/file", .file([1, 2, 3, 4]), .claimingLength(2))
        let (result, recorder) = try await client.run(origin.url("/file"))
        #expect(result.outcome == .completed)
        #expect(recorder.body == [1, 2])
    }
}
