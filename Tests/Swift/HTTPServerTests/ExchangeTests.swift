// Methods, bodies and reused connections.

import HTTPTypes
import Testing

@testable import HTTPServer

@Suite struct ExchangeTests {
    @Test func respondsToGet() async throws {
        try await withServer(.echo) { port in
            let response = try RawClient(port).exchange("GET", "/a/%2e%2e/b%20c?q=%00&r=1+2")
            #expect(response.status == 200)
            #expect(response.text == "GET /a/%2e%2e/b%20c?q=%00&r=1+2 ")
            #expect(response["content-length"] == "\(response.body.count)")
            #expect(response["date"]?.hasSuffix("GMT") == true)
            #expect(!response.closes)
        }
    }

    @Test func splitsTheTargetWithoutDecodingIt() {
        var head = RequestHead(method: .get, target: "/a%3Fb/c?d=e?f")
        #expect(head.path == "/a%3Fb/c")
        #expect(head.query == "d=e?f")
        head.target = "/a"
        #expect(head.path == "/a")
        #expect(head.query == nil)
        head.target = "/a?"
        #expect(head.query == "")
    }

    @Test func passesTheHeadToTheHandler() async throws {
        let seen = Shared<RequestHead?>(nil)
        let handler = TestHandler { request in
            seen.change { $0 = request.head }
            return .now(Response(status: .noContent))
        }
        try await withServer(handler) { port in
            _ = try RawClient(port).exchange(
                "PATCH", "/x", fields: ["X-Twice: 1", "x-twice: two", "Empty:"], body: "b")
        }
        let head = try #require(seen.value)
        #expect(head.method == .patch)
        #expect(head.remoteAddress == "127.0.0.1")
        #expect(head.isHTTP11)
        #expect(head.host == "test")
        #expect(head.headers[values: HTTPField.Name("X-Twice")!] == ["1", "two"])
        #expect(head.headers[HTTPField.Name("Empty")!] == "")
    }

    @Test(arguments: [0, 1, 4_095, 4_096, 100_000, 1 << 20])
    func receivesBodies(of size: Int) async throws {
        let body = String(repeating: "0123456789abcdef", count: size / 16 + 1).prefix(size)
        try await withServer(.echo) { port in
            let response = try RawClient(port).exchange("POST", "/", body: String(body))
            #expect(response.text == "POST / " + body)
        }
    }

    @Test func receivesChunkedBodiesInAnyPieces() async throws {
        try await withServer(.echo) { port in
            let client = try RawClient(port)
            let request =
                RawClient.request("PUT", "/c", fields: ["Transfer-Encoding: Chunked"])
                + "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"
            for byte in request.utf8 { try client.send([byte]) }
            let response = try client.readResponse()
            #expect(response.text == "PUT /c abc0123456789")
            #expect(response.closes)
            #expect(try client.readUntilClosed().isEmpty)
        }
    }

    @Test func respondsToHeadWithTheLengthOnly() async throws {
        try await withServer(.echo) { port in
            let client = try RawClient(port)
            let response = try client.exchange("HEAD", "/h")
            #expect(response.status == 200)
            #expect(response["content-length"] == "8")
            #expect(try client.exchange("GET", "/h").text == "GET /h ")
        }
    }

    @Test(arguments: [HTTPResponse.Status.noContent, .notModified])
    func sendsNoBodyWith204And304(_ status: HTTPResponse.Status) async throws {
        let handler = TestHandler { _ in .now(Response(status: status, headers: [.eTag: "\"1.2\""])) }
        try await withServer(handler) { port in
            let client = try RawClient(port)
            for _ in 0..<2 {
                let response = try client.exchange()
                #expect(response.status == status.code)
                #expect(response["etag"] == "\"1.2\"")
                #expect(response["transfer-encoding"] == nil)
                #expect(response["content-length"] == nil)
            }
        }
    }

    @Test func ignoresFramingFieldsOfTheHandler() async throws {
        let handler = TestHandler { _ in
            .now(
                Response(
                    status: .ok,
                    headers: [
                        .contentLength: "7", .transferEncoding: "chunked", .date: "never", .server: "s",
                        .setCookie: "a=1", .setCookie: "b=2", .connection: "close",
                    ], body: .bytes([1, 2, 3])))
        }
        try await withServer(handler) { port in
            let client = try RawClient(port)
            let response = try client.exchange()
            #expect(response["content-length"] == "3")
            #expect(response["transfer-encoding"] == nil)
            #expect(response["date"]?.hasSuffix("GMT") == true)
            #expect(response["server"] == "s")
            #expect(response.fields.filter { $0.name == "set-cookie" }.map(\.value) == ["a=1", "b=2"])
            #expect(response.closes)
            #expect(try client.readUntilClosed().isEmpty)
        }
    }

    @Test func keepsConnectionsOpen() async throws {
        try await withServer(.echo) { port in
            let client = try RawClient(port)
            for number in 0..<500 {
                #expect(try client.exchange("POST", "/\(number)", body: "b").text == "POST /\(number) b")
            }
        }
    }

    @Test func closesOnConnectionClose() async throws {
        try await withServer(.echo) { port in
            let client = try RawClient(port)
            #expect(try client.exchange(fields: ["Connection: close"]).closes)
            #expect(try client.readUntilClosed().isEmpty)
            let old = try RawClient(port)
            try old.send("GET /old HTTP/1.0\r\n\r\n")
            #expect(try old.readResponse().text == "GET /old ")
            #expect(try old.readUntilClosed().isEmpty)
        }
    }

    @Test func closesAfterTheClientShutsDownWriting() async throws {
        try await withServer(.echo) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request())
            client.shutdownWriting()
            #expect(try client.readResponse().text == "GET / ")
            _ = try client.readUntilClosed()
        }
    }

    @Test func respondsToPipelinedRequestsInOrder() async throws {
        try await withServer(.echo) { port in
            let client = try RawClient(port)
            let requests = (0..<100).map { RawClient.request("POST", "/\($0)", body: "body") }
            try client.send(requests.joined())
            for number in 0..<100 { #expect(try client.readResponse().text == "POST /\(number) body") }
        }
    }

    @Test func sends100Continue() async throws {
        try await withServer(.echo) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request("POST", "/", fields: ["Expect: 100-continue", "Content-Length: 5"]))
            #expect(try client.readResponse().status == 100)
            try client.send("hello")
            #expect(try client.readResponse().text == "POST / hello")
        }
    }

    @Test func closesIfNoResponseIsPossible() async throws {
        let handler = TestHandler { _ in .now(Response(status: .init(code: 103))) }
        try await withServer(handler) { port in
            let client = try RawClient(port)
            try client.send(RawClient.request())
            #expect(try client.readUntilClosed().isEmpty)
        }
    }
}
