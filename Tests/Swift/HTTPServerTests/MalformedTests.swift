// Malformed requests. Each gets a refusal or a closed connection, and the server continues.

import HTTPServer
import HTTPTypes
import Testing

@Suite struct MalformedTests {
    /// A request, and the fault that the handler receives.
    struct Case: Sendable, CustomTestStringConvertible {
        var fault: RequestFault
        var request: String
        var testDescription: String { request.debugDescription }
    }

    static let refused: [Case] = [
        Case(fault: .hostMissing, request: "GET / HTTP/1.1\r\n\r\n"),
        Case(fault: .hostRepeated, request: "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        Case(fault: .hostRepeated, request: "GET / HTTP/1.0\r\nHost: a\r\nhost: b\r\n\r\n"),
        Case(fault: .fieldInvalid, request: "GET / HTTP/1.1\r\nHost : a\r\n\r\n"),
        Case(fault: .fieldInvalid, request: "GET / HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc"),
        Case(fault: .fieldInvalid, request: "GET / HTTP/1.1\r\nHost: a\r\nX\u{1}: b\r\n\r\n"),
        Case(
            fault: .framingAmbiguous,
            request: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Case(
            fault: .framingAmbiguous,
            request: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n"),
        Case(
            fault: .contentLengthInvalid,
            request: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc"),
        Case(
            fault: .contentLengthInvalid,
            request: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
        Case(
            fault: .transferEncodingUnsupported,
            request: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        Case(
            fault: .transferEncodingUnsupported,
            request: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\nabc"),
        Case(
            fault: .transferEncodingUnsupported,
            request:
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n"),
        Case(
            fault: .transferEncodingUnsupported,
            request: "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Case(fault: .methodInvalid, request: "G(T / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case(fault: .targetInvalid, request: "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case(fault: .targetInvalid, request: "GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case(fault: .targetInvalid, request: "GET /a\u{7f} HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case(fault: .targetInvalid, request: "GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case(fault: .targetInvalid, request: "GET /a\0HTTP/1.1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case(fault: .targetInvalid, request: "GET /a?b\0c HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case(fault: .lineInvalid, request: "GET / HTTP/1.1\r\nHost: a\r\nX: y\0\r\n\r\n"),
        Case(fault: .lineInvalid, request: "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n"),
        Case(fault: .lineInvalid, request: "GET / HTTP/1.1\nHost: a\r\n\r\n"),
    ]

    @Test(arguments: refused)
    func refusesMalformedRequests(_ malformed: Case) async throws {
        try await withServer(.echo) { port in
            let client = try RawClient(port)
            try client.send(malformed.request)
            let response = try client.readResponse()
            #expect(response.status == malformed.fault.status.code)
            #expect(response.text == malformed.fault.description)
            #expect(response["content-type"] == "text/fault")
            #expect(try client.readUntilClosed().isEmpty)
            #expect(try RawClient(port).exchange().status == 200)
        }
    }

    /// The library itself responds to these, or closes the connection. It serves no request behind them. (For an invalid
    /// Content-Length, 0.9.75 sends its head twice, as docs/security.md says.)
    @Test(arguments: [
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3 4\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "GET /\r\n\r\n", "GET\r\n\r\n", " / HTTP/1.1\r\n\r\n", "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon here\r\n\r\n", "GET / HTTP/1.1\r\nHost\0: a\r\n\r\n", "\0\0\0\0\r\n\r\n",
        "GET / HTTP/1.1\r\n folded: first\r\nHost: a\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\r\n\r\n",
    ])
    func closesInvalidRequestsAndContinues(_ request: String) async throws {
        try await withServer(.echo) { port in
            let client = try RawClient(port)
            // The library takes a line that begins with a NUL for an empty one, which may precede a request.
            let behind = request.hasPrefix("\0") ? "" : RawClient.request("GET", "/behind")
            try client.send(request + behind)
            client.shutdownWriting()
            let answer = String(decoding: try client.readUntilClosed(), as: UTF8.self)
            #expect(!answer.contains("/behind"))
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 5"))
            #expect(try RawClient(port).exchange().status == 200)
        }
    }

    @Test func acceptsHeadsUpToTheLimit() async throws {
        let limit = 4_096
        try await withServer(.echo, configure: { $0.maxHeadBytes = limit }) { port in
            let rest = RawClient.request("GET", "/", fields: ["X: "]).utf8.count
            for size in [limit - rest, limit - rest + 1] {
                let response = try RawClient(port).exchange(fields: ["X: " + String(repeating: "x", count: size)])
                #expect(response.status == (size + rest <= limit ? 200 : 431))
            }
            let huge = try RawClient(port).exchange(fields: ["X: " + String(repeating: "x", count: 100_000)])
            #expect(huge.status == 431)
            let long = try RawClient(port).exchange("GET", "/" + String(repeating: "x", count: 100_000))
            #expect(long.status == 414 || long.status == 431)
            let many = try RawClient(port).exchange(fields: (0..<900).map { "\($0):" })
            #expect(many.status == 431)
            #expect(try RawClient(port).exchange().status == 200)
        }
    }

    @Test func continuesAfterRandomInput() async throws {
        try await withServer(.echo) { port in
            var random = SystemRandomNumberGenerator()
            for _ in 0..<300 {
                let client = try RawClient(port)
                let noise = (0..<Int.random(in: 1...400, using: &random)).map { _ in UInt8.random(in: 0...255) }
                try client.send(Bool.random() ? noise : Array("POST /n HTTP/1.1\r\nHost: a\r\n".utf8) + noise)
                if Bool.random() { client.resetOnClose() }
            }
            #expect(try RawClient(port).exchange().status == 200)
        }
    }

    /// The library would store each argument in the memory of the connection, which is too small for these.
    @Test(arguments: [1, 199, 200, 250, 1000])
    func answersRequestsWithManyArguments(count: Int) async throws {
        try await withServer(.echo) { port in
            let target = "/a?" + (0..<count).map { "b\($0)=\($0)" }.joined(separator: "&")
            let client = try RawClient(port)
            for _ in 0..<2 {
                let response = try client.exchange("GET", target)
                if target.utf8.count > 8000 {
                    #expect(response.status == 431)
                    return
                }
                #expect(response.status == 200)
                #expect(response.text == "GET \(target) ")
            }
        }
    }
}
