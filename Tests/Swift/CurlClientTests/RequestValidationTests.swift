import CurlClient
import TestKit
import Testing

/// Requests that are refused before a byte is sent.
@Suite struct RequestValidationTests {
    let client: CurlClient
    let origin: Origin

    init() throws {
        client = try CurlClient()
        origin = try Origin()
    }

    @Test(arguments: [
        "", "nonsense", "http://", "127.0.0.1/x", "http://a b/", "http://host:99999/",
        "http://127.0.0.1/\r\nX-Evil: 1", "http://127.0.0.1/\0",
    ])
    func refusesInvalidURLs(url: String) async throws {
        let (result, _) = try await client.run(url)
        guard case .badURL = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
    }

    @Test(arguments: ["ftp://127.0.0.1/x", "file:///etc/passwd", "gopher://127.0.0.1/", "ws://127.0.0.1/"])
    func refusesOtherSchemes(url: String) async throws {
        let (result, _) = try await client.run(url)
        #expect(result.error == .unsupportedProtocol)
    }

    @Test(arguments: [
        ("X-A", "1\r\nX-Evil: 1"), ("X-A", "1\nX-Evil: 1"), ("X-A", "1\rX"), ("X-A", "1\0"), ("X-A\r\nX-Evil", "1"),
        ("X A", "1"), ("X-A:", "1"), ("", "1"), ("Content-Length", "5"), ("transfer-encoding", "chunked"),
    ])
    func refusesInvalidHeaders(name: String, value: String) async throws {
        let request = TransferRequest(url: origin.url("/"), headers: [(name, value)])
        try await expectProtocolError(request)
    }

    @Test(arguments: ["", "GET /x HTTP/1.1\r\n\r\nGET", "G ET", "GET\0"])
    func refusesInvalidMethods(_ method: String) async throws {
        try await expectProtocolError(TransferRequest(url: origin.url("/"), method: method))
    }

    @Test func refusesConnectAndHeadWithABody() async throws {
        try await expectProtocolError(TransferRequest(url: origin.url("/"), method: "CONNECT"))
        try await expectProtocolError(TransferRequest(url: origin.url("/"), method: "HEAD", body: [1]))
    }

    @Test func refusesLineBreaksInTheUserAgent() async throws {
        try await expectProtocolError(TransferRequest(url: origin.url("/"), userAgent: "a\r\nX-Evil: 1"))
    }

    @Test(arguments: [(Int64?(-1), Int64?.none), (5, 4), (nil, 4)])
    func refusesInvalidRanges(start: Int64?, end: Int64?) async throws {
        try await expectProtocolError(TransferRequest(url: origin.url("/"), rangeStart: start, rangeEnd: end))
    }

    private func expectProtocolError(_ request: TransferRequest) async throws {
        let (result, _) = try await client.run(request)
        guard case .protocolError = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(origin.connectionCount == 0)
    }
}
