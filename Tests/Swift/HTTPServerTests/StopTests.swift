// Stops a server with exchanges in all phases.

import Glibc
import HTTPServer
import HTTPTypes
import Testing

@Suite struct StopTests {
    private static func start(_ handler: TestHandler) throws -> HTTPServer {
        var options = HTTPServer.Options()
        options.threads = 2
        return try HTTPServer(options: options, handler: handler)
    }

    @Test func closesIdleConnectionsAtOnce() async throws {
        let server = try Self.start(.echo)
        let client = try await onThread {
            let client = try RawClient(server.port)
            _ = try client.exchange()
            return Shared(client)
        }
        let duration = await ContinuousClock().measure { await server.stop(grace: .seconds(600)) }
        #expect(duration < .patience)
        try await onThread {
            let rest = try client.value.readUntilClosed()
            #expect(rest.isEmpty)
            #expect(throws: RawClient.Failure.self) { try RawClient(server.port) }
        }
    }

    @Test func letsRunningExchangesFinish() async throws {
        let gate = Gate()
        let begun = Shared(0)
        let server = try Self.start(
            TestHandler { request in
                if request.head.target == "/idle" { return .now(Response(text: "idle")) }
                return .eventually {
                    begun.change { $0 += 1 }
                    await gate.pass()
                    return Response(text: "finished")
                }
            })
        let idle = try await onThread {
            let client = try RawClient(server.port)
            _ = try client.exchange("GET", "/idle")
            return Shared(client)
        }
        async let answers = onThread {
            let clients = try (0..<20).map { _ in try RawClient(server.port) }
            for client in clients { try client.send(RawClient.request()) }
            return try clients.map { try $0.readResponse() }
        }
        try await onThread { expectSoon { begun.value == 20 } }
        async let stop: Void = server.stop(grace: .seconds(30))
        // A server that stops closes its idle connections.
        _ = try await onThread { try idle.value.readUntilClosed() }
        gate.open()
        await stop
        for answer in try await answers {
            #expect(answer.text == "finished")
            #expect(answer.status == 200)
        }
    }

    @Test func respondsWith503AfterTheGrace() async throws {
        for _ in 0..<5 {
            guard let answers = try await Self.answersAfterTheGrace() else { continue }
            for answer in answers {
                #expect(answer.status == 503)
                #expect(answer.text == RequestFault.stopping.description)
                #expect(answer.closes)
            }
            return
        }
        Issue.record("some connections had no response, five times")
    }

    /// - Returns: nil if a connection has ended without a response: a stop leaves one second for all of them.
    private static func answersAfterTheGrace() async throws -> [RawResponse]? {
        let begun = Shared(0)
        let cancelled = Shared(0)
        let server = try start(
            TestHandler { _ in
                .eventually {
                    begun.change { $0 += 1 }
                    try? await Task.sleep(for: .seconds(3_600))
                    if Task.isCancelled { cancelled.change { $0 += 1 } }
                    return Response(text: "too late")
                }
            })
        async let answers = onThread { () -> [RawResponse]? in
            let clients = try (0..<50).map { _ in try RawClient(server.port) }
            for client in clients { try client.send(RawClient.request()) }
            return try? clients.map { try $0.readResponse() }
        }
        try await onThread { expectSoon { begun.value == 50 } }
        await server.stop(grace: .milliseconds(100))
        try await onThread { expectSoon { cancelled.value == 50 } }
        return try await answers
    }

    @Test func finishesStreams() async throws {
        let ends = Shared<[ResponseStream.End]>([])
        let server = try Self.start(
            TestHandler { _ in
                let stream = ResponseStream { end in ends.change { $0.append(end) } }
                stream.write(Array("hello".utf8))
                return .now(Response(status: .ok, body: .stream(stream)))
            })
        let clients = try await onThread {
            let clients = try (0..<20).map { _ in try RawClient(server.port) }
            for client in clients {
                try client.send(RawClient.request())
                _ = try client.readHead()
                #expect(try client.readChunk() == Array("hello".utf8))
            }
            return Shared(clients)
        }
        let duration = await ContinuousClock().measure { await server.stop(grace: .seconds(600)) }
        #expect(duration < .patience)
        #expect(ends.value == Array(repeating: .serverStopped, count: 20))
        try await onThread {
            for client in clients.value {
                let chunk = try client.readChunk()
                #expect(chunk == nil)
            }
        }
    }

    /// Requests in all phases, with immediate, late and no responses, while the server stops.
    @Test(arguments: 0..<10)
    func stopsUnderLoad(_ round: Int) async throws {
        let server = try Self.start(
            TestHandler { request in
                switch request.head.path {
                case "/later": .eventually { Response(text: "later") }
                case "/never":
                    .eventually {
                        try? await Task.sleep(for: .seconds(3_600))
                        return Response(text: "never")
                    }
                case "/stream": .now(Response(status: .ok, body: .stream(ResponseStream())))
                default: .now(Response(text: "now"))
                }
            })
        let clients = (0..<8).map { number in
            Task {
                try? await onThread {
                    while true {
                        let client = try RawClient(server.port)
                        for path in ["/now", "/later", "/later", ["/never", "/stream", "/now"][number % 3]] {
                            if try client.exchange("GET", path).closes { break }
                        }
                    }
                }
            }
        }
        try await Task.sleep(for: .milliseconds(20 + round * 7))
        await server.stop(grace: .milliseconds(round * 10))
        for client in clients { await client.value }
    }

    @Test func stopCanBeCalledAgain() async throws {
        let server = try Self.start(.echo)
        async let first: Void = server.stop(grace: .seconds(1))
        async let second: Void = server.stop(grace: .seconds(1))
        _ = await (first, second)
        await server.stop(grace: .seconds(1))
    }

    @Test func stopsWhenTheServerIsReleased() async throws {
        let port = try Self.start(.echo).port
        try await onThread { expectSoon { (try? RawClient(port)) == nil } }
    }
}
