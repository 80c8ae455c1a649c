import CurlClient
import TestKit
import Testing

/// Requests whose responses are returned in memory.
@Suite struct ExchangeTests {
    let client: CurlClient
    let origin: Origin

    init() throws {
        client = try CurlClient()
        origin = try Origin()
    }

    @Test func returnsResponsesOfAnyStatus() async throws {
        origin.serve("/in", .fixed(status: 503, headers: [("Retry-After", "7")], body: Array("later".utf8)))
        let response = try await client.exchange(
            TransferRequest(url: origin.url("/in"), method: "POST", body: [1]), bodyLimit: 100)
        #expect(response.status == 503)
        #expect(response.body == Array("later".utf8))
        #expect(!response.bodyTruncated)
        #expect(response.headers.contains { $0.name == "Retry-After" && $0.value == "7" })
        #expect(response.metrics.total != nil)
    }

    @Test(arguments: [(1_000, 1_000), (1_000, 999), (5_000_000, 1_000), (10, 0)])
    func keepsAtMostBodyLimitBytes(count: Int, limit: Int) async throws {
        let bytes = Content.random(seed: 22, count: count)
        origin.serve("/out", .fixed(body: bytes))
        let response = try await client.exchange(TransferRequest(url: origin.url("/out")), bodyLimit: limit)
        #expect(response.body == Array(bytes.prefix(limit)))
        #expect(response.bodyTruncated == (count > limit))
    }

    @Test func endsTheTransferOfAnEndlessBody() async throws {
        origin.serve("/out", .fixed(body: Content.random(seed: 23, count: 100_000)), .stalling(after: 50_000))
        let response = try await client.exchange(TransferRequest(url: origin.url("/out")), bodyLimit: 1_000)
        #expect(response.bodyTruncated)
        #expect(await origin.waitForSilence())
    }

    /// The head is the response, if the caller says so.
    @Test func acceptsAHeadWhoseBodyBreaksOffOrDoesNotEnd() async throws {
        let bytes = Content.random(seed: 24, count: 1_000)
        for behaviour: OriginBehaviour in [.closing(after: 400), .stalling(after: 400)] {
            origin.serve("/out", .fixed(body: bytes), behaviour)
            let response = try await client.exchange(
                TransferRequest(url: origin.url("/out")), bodyLimit: 5_000, bodyWithin: .milliseconds(200))
            #expect(response.status == 200 && response.bodyTruncated)
            #expect(response.body == Array(bytes.prefix(400)))
        }
        origin.serve("/out", .fixed(body: bytes))
        let whole = try await client.exchange(
            TransferRequest(url: origin.url("/out")), bodyLimit: 5_000, bodyWithin: .seconds(60))
        #expect(whole.body == bytes && !whole.bodyTruncated)
    }

    @Test func throwsTransferErrors() async throws {
        origin.serve("/out", .fixed(body: [1, 2, 3]), .closing(after: 1))
        await #expect(throws: TransferError.truncated(expected: 3, received: 1)) {
            try await client.exchange(TransferRequest(url: origin.url("/out")), bodyLimit: 100)
        }
        await #expect(throws: TransferError.unsupportedProtocol) {
            try await client.exchange(TransferRequest(url: "ftp://x/"), bodyLimit: 100)
        }
    }

    @Test func cancelledTaskEndsTheTransfer() async throws {
        origin.serve("/silent", .fixed(), .silent)
        let (client, url) = (client, origin.url("/silent"))
        let task = Task { try await client.exchange(TransferRequest(url: url), bodyLimit: 100) }
        await origin.waitForRequests("/silent")
        task.cancel()
        await #expect(throws: TransferError.cancelled) { try await task.value }
        #expect(await origin.waitForSilence())
    }

    @Test func taskCancelledBeforehandEndsTheTransfer() async throws {
        origin.serve("/silent", .fixed(), .silent)
        let (client, url) = (client, origin.url("/silent"))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.exchange(TransferRequest(url: url), bodyLimit: 100)
        }
        await #expect(throws: TransferError.cancelled) { try await task.value }
    }
}
