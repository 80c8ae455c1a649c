// Refusals before the body is read, and limits on bodies.

import HTTPServer
import HTTPTypes
import Testing

@Suite struct RouteDecisionTests {
    private static let limit = 1_000

    private static var limited: TestHandler {
        var handler = TestHandler.echo
        handler.admitting = { head in
            head.path == "/refused" ? .refuse(Response(.unauthorized, text: "no")) : .accept(maxBodyBytes: limit)
        }
        return handler
    }

    @Test func refusesBeforeTheBody() async throws {
        try await withServer(Self.limited) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request("POST", "/refused", fields: ["Content-Length: 500"]))
            let response = try client.readResponse()
            #expect(response.status == 401)
            #expect(response.text == "no")
            #expect(response.closes)
            #expect(try client.readUntilClosed().isEmpty)
        }
    }

    @Test func refusesInsteadOf100Continue() async throws {
        try await withServer(Self.limited) { port in
            let client = try RawClient(port)
            let fields = ["Content-Length: 500", "Expect: 100-continue"]
            try client.send(RawClient.request("POST", "/refused", fields: fields))
            #expect(try client.readResponse().status == 401)
            #expect(try client.readUntilClosed().isEmpty)
        }
    }

    @Test func keepsTheConnectionAfterARefusalWithoutABody() async throws {
        try await withServer(Self.limited) { port in
            let client = try RawClient(port)
            for _ in 0..<3 { #expect(try client.exchange("GET", "/refused").status == 401) }
            #expect(try client.exchange("GET", "/fine").status == 200)
        }
    }

    /// The client must receive the response although it still sends when it is refused.
    @Test func clientThatKeepsSendingGetsTheRefusal() async throws {
        try await withServer(Self.limited) { port in
            for _ in 0..<20 {
                let status = try Self.statusOfARefusedUpload(port)
                #expect(status == 401)
            }
        }
    }

    /// The server reads for two seconds after the refusal. A client that is slower gets a reset, so one try out of five is
    /// enough.
    private static func statusOfARefusedUpload(_ port: UInt16) throws -> Int {
        for _ in 0..<4 { if let status = try? upload(port) { return status } }
        return try upload(port)
    }

    private static func upload(_ port: UInt16) throws -> Int {
        let client = try RawClient(port)
        try client.send(RawClient.request("POST", "/refused", fields: ["Content-Length: 800000"]))
        try client.send([UInt8](repeating: 1, count: 800_000))
        return try client.readResponse().status
    }

    @Test func acceptsBodiesUpToTheLimit() async throws {
        try await withServer(Self.limited) { port in
            let body = String(repeating: "b", count: Self.limit)
            #expect(try RawClient(port).exchange("POST", "/", body: body).text == "POST / " + body)
            let client = try RawClient(port)
            try client.send(RawClient.request("POST", "/", fields: ["Transfer-Encoding: chunked"]))
            for _ in 0..<10 { try client.send("64\r\n" + body.prefix(100) + "\r\n") }
            try client.send("0\r\n\r\n")
            #expect(try client.readResponse().text == "POST / " + body)
        }
    }

    @Test func refusesOneByteMoreWithoutReadingIt() async throws {
        try await withServer(Self.limited) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request("POST", "/", fields: ["Content-Length: \(Self.limit + 1)"]))
            let response = try client.readResponse()
            #expect(response.status == 413)
            #expect(response.text == RequestFault.bodyTooLarge(limit: Self.limit).description)
            #expect(response.closes)
        }
    }

    @Test func refusesOneByteMoreInChunks() async throws {
        try await withServer(Self.limited) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request("POST", "/", fields: ["Transfer-Encoding: chunked"]))
            for _ in 0..<10 { try client.send("64\r\n" + String(repeating: "b", count: 100) + "\r\n") }
            try client.send("1\r\nb\r\n0\r\n\r\n")
            let response = try client.readResponse()
            #expect(response.status == 413)
            #expect(response.closes)
            #expect(try client.readUntilClosed().isEmpty)
        }
    }

    @Test func closesTheConnectionOfEndlessBodies() async throws {
        try await withServer(Self.limited) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request("POST", "/", fields: ["Transfer-Encoding: chunked"]))
            let chunk = "2710\r\n" + String(repeating: "b", count: 10_000) + "\r\n"
            #expect(throws: RawClient.Failure.self) {
                for _ in 0..<10_000 { try client.send(chunk) }
            }
        }
    }
}
