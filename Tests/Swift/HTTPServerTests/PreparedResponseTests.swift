import HTTPTypes
import Testing

@testable import HTTPServer

@Suite struct PreparedResponseTests {
    private static let text = Response(
        status: .ok, headers: [.eTag: "\"1\"", .contentLength: "7"], body: .bytes([97, 98]))

    private func handler(_ response: Response) throws -> TestHandler {
        let prepared = try #require(PreparedResponse(response))
        return TestHandler { _ in .prepared(prepared) }
    }

    @Test func isSentManyTimesOnSeveralConnections() async throws {
        try await withServer(try handler(Self.text)) { port in
            let clients = [try RawClient(port), try RawClient(port), try RawClient(port)]
            for _ in 0..<10 {
                for client in clients {
                    let response = try client.exchange()
                    #expect(response.status == 200)
                    #expect(response.text == "ab")
                    #expect(response["etag"] == "\"1\"")
                    #expect(response.fields.filter { $0.name == "content-length" }.map(\.value) == ["2"])
                    let head = try client.exchange("HEAD")
                    #expect(head["content-length"] == "2")
                    #expect(head.body.isEmpty)
                }
            }
        }
    }

    @Test func keepsConnectionsOpenAfterNotModified() async throws {
        let response = Response(status: .notModified, headers: [.eTag: "\"1\""], body: .bytes([97]))
        try await withServer(try handler(response)) { port in
            let client = try RawClient(port)
            for method in ["GET", "HEAD", "GET", "GET"] {
                let response = try client.exchange(method)
                #expect(response.status == 304)
                #expect(response["etag"] == "\"1\"")
                #expect(response["content-length"] == nil)
                #expect(response["transfer-encoding"] == nil)
                #expect(response["date"] != nil)
            }
            // Requests that arrive together.
            let request = RawClient.request("GET", "/")
            try client.send(request + request + request)
            for _ in 0..<3 { #expect(try client.readResponse().status == 304) }
        }
    }

    @Test func closesConnectionOnRequest() async throws {
        try await withServer(try handler(Self.text)) { port in
            let client = try RawClient(port)
            #expect(try client.exchange(fields: ["Connection: close"]).closes)
            #expect(try client.readUntilClosed().isEmpty)
        }
    }

    @Test func existsOnlyForBytes() throws {
        #expect(PreparedResponse(Response(status: .ok, body: .stream(ResponseStream()))) == nil)
        #expect(PreparedResponse(Response(status: .noContent)) != nil)
    }
}
