import CurlClient
import TestKit
import Testing

/// Connections that are reused, and connections that must not be reused.
@Suite struct ReuseTests {
    let client: CurlClient
    let origin: Origin

    init() throws {
        client = try CurlClient()
        origin = try Origin()
        origin.serve("/file", .fixed(body: Array("the file".utf8)))
    }

    private func get(_ path: String) async throws -> ExchangeResponse {
        try await client.exchange(TransferRequest(url: origin.url(path)), bodyLimit: 10_000)
    }

    @Test func reusesAnIdleConnection() async throws {
        for _ in 0..<3 { #expect(try await get("/file").status == 200) }
        #expect(origin.requests.map(\.connection) == [1, 1, 1])
    }

    /// A server sends more than its `Content-Length`. The next request must not take these bytes for its response.
    @Test(arguments: ["HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", "and more", "\r\n"])
    func excessBytesAreNotTheNextResponse(_ excess: String) async throws {
        let (body, gate) = (Array("short".utf8), Gate())
        let tail = OriginBehaviour(spoil: { answer, _ in answer.body += Array(excess.utf8) })
        origin.serve(
            "/long", .fixed(body: body), tail, .claimingLength(body.count), .waiting(at: body.count, for: gate))
        #expect(try await get("/long").body == body)
        gate.open()
        // The bytes arrive before the next request is sent.
        #expect(await origin.waitForSilence())
        let response = try await get("/file")
        #expect(response.status == 200)
        #expect(response.body == Array("the file".utf8))
        #expect(origin.requests.map(\.connection) == [1, 2])
    }

    @Test func replacesAConnectionThatTheServerClosed() async throws {
        origin.serve("/last", .fixed(body: Array("bye".utf8)), .closingConnection)
        #expect(try await get("/last").status == 200)
        #expect(await origin.waitForSilence())
        #expect(try await get("/file").status == 200)
        #expect(origin.requests.count == 2)
    }
}
