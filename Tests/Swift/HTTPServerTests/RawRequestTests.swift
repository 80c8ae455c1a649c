// Bytes that no HTTP library would send. Each request gets exactly one response, or the connection is closed.

import HTTPServer
import HTTPTypes
import Testing

@Suite struct RawRequestTests {
    private static let probe = "GET /probe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    @Test(arguments: RawCase.requestLines + RawCase.heads + RawCase.framings + RawCase.sequences)
    func getsOneResponseOrTheEnd(_ raw: RawCase) async throws {
        try await withServer(.echo) { port in
            let client = try RawClient(port)
            switch raw.end {
            case .stays, .closes: try client.send(raw.request + Self.probe)
            case .ends, .refusedByLibrary:
                try client.send(raw.request)
                client.shutdownWriting()
            }
            let responses = try client.readResponsesUntilClosed()
            let statuses = responses.map(\.status)
            switch raw.end {
            case .stays:
                #expect(statuses == raw.answers + [200])
                #expect(responses.last?.text == "GET /probe ")
            case .closes, .ends: #expect(statuses == raw.answers)
            case .refusedByLibrary: #expect(statuses.count <= 1 && statuses.allSatisfy { $0 >= 400 })
            }
            if let text = raw.text { #expect(responses.first?.text == text) }
            #expect(try RawClient(port).exchange().status == 200)
        }
    }

    /// A client that sends `Expect` waits before it sends the body.
    @Test func continuesOnlyIfTheBodyIsWanted() async throws {
        var handler = TestHandler.echo
        handler.admitting = { $0.path == "/no" ? .refuse(Response(.forbidden, text: "no")) : .accept() }
        try await withServer(handler) { port in
            let client = try RawClient(port)
            let fields = ["Expect: 100-continue", "Content-Length: 3"]
            try client.send(RawClient.request("POST", "/yes", fields: fields))
            #expect(try client.readResponse().status == 100)
            try client.send("abc")
            #expect(try client.readResponse().text == "POST /yes abc")
            try client.send(RawClient.request("POST", "/no", fields: fields))
            #expect(try client.readResponsesUntilClosed().map(\.status) == [403])
            let impatient = try RawClient(port)
            try impatient.send(RawClient.request("POST", "/yes", fields: fields) + "abc" + Self.probe)
            let statuses = try impatient.readResponsesUntilClosed().map(\.status)
            #expect(statuses.filter { $0 != 100 } == [200, 200])
        }
    }

    /// A field of more lines than the limit, all within the size of a head.
    @Test func refusesTooManyFields() async throws {
        try await withServer(.echo, configure: { $0.maxFields = 10 }) { port in
            // Host is one of them.
            #expect(try RawClient(port).exchange(fields: (1...9).map { "X\($0): y" }).status == 200)
            let refused = try RawClient(port).exchange(fields: (1...10).map { "X\($0): y" })
            #expect(refused.status == 431)
            #expect(refused.text == RequestFault.tooManyFields(limit: 10).description)
            #expect(refused.closes)
        }
    }
}
