// Responses that take time. None may be lost, duplicated or mixed up.

import HTTPServer
import HTTPTypes
import Testing

@Suite struct EventualAnswerTests {
    /// Waits for a different short time for each request, and responds like `TestHandler.echo`.
    private static var slowEcho: TestHandler {
        TestHandler { request in
            .eventually {
                let pause = request.head.target.utf8.reduce(0) { $0 &* 31 &+ UInt($1) } % 5_000
                try? await Task.sleep(for: .microseconds(pause))
                return Response(text: request.head.target + " ", request.body)
            }
        }
    }

    @Test func respondsAfterAsynchronousWork() async throws {
        try await withServer(Self.slowEcho) { port in
            let client = try RawClient(port)
            for number in 0..<20 {
                #expect(try client.exchange("POST", "/\(number)", body: "b").text == "/\(number) b")
            }
        }
    }

    @Test func respondsToManyParkedRequestsWithTheSamePreparedResponse() async throws {
        let parked = Shared<[DeferredResponse]>([])
        let settled = Shared(0)
        let handler = TestHandler { request in
            guard request.head.path == "/wait" else { return .now(Response(text: "fine")) }
            return .parked { pending in
                pending.observe(onDisconnect: {}, onSettled: { settled.change { $0 += 1 } })
                parked.change { $0.append(pending) }
            }
        }
        let prepared = try #require(PreparedResponse(Response(text: "changed")))
        try await withServer(handler) { port in
            let clients = try (0..<100).map { _ in try RawClient(port) }
            for round in 1...3 {
                for client in clients { try client.send(RawClient.request("GET", "/wait")) }
                expectSoon { parked.value.count == 100 }
                #expect(try RawClient(port).exchange().text == "fine")
                for pending in parked.value {
                    pending.settle(with: prepared)
                    pending.settle(with: Response(text: "too late"))
                }
                for client in clients { #expect(try client.readResponse().text == "changed") }
                #expect(settled.value == 100 * round)
                parked.change { $0 = [] }
            }
        }
    }

    @Test func respondsToAParkedRequestThatIsSettledAtOnce() async throws {
        let handler = TestHandler { _ in .parked { $0.settle(with: Response(text: "at once")) } }
        try await withServer(handler) { port in
            let client = try RawClient(port)
            for _ in 0..<1_000 { #expect(try client.exchange().text == "at once") }
        }
    }

    @Test func respondsOnceToEachOfManyRequests() async throws {
        let answered = Shared(0)
        let handler = TestHandler { request in
            .eventually {
                for _ in 0..<request.body.count % 4 { await Task.yield() }
                answered.change { $0 += 1 }
                return Response(text: request.head.target)
            }
        }
        try await withServer(handler) { port in
            let clients = try (0..<50).map { _ in try RawClient(port) }
            for round in 0..<5 {
                for (number, client) in clients.enumerated() {
                    let body = String(repeating: "b", count: number % 4)
                    try client.send(RawClient.request("POST", "/\(round)/\(number)", body: body))
                }
                for (number, client) in clients.enumerated() {
                    #expect(try client.readResponse().text == "/\(round)/\(number)")
                }
            }
        }
        #expect(answered.value == 250)
    }

    @Test func respondsToPipelinedRequestsInOrder() async throws {
        try await withServer(Self.slowEcho) { port in
            let client = try RawClient(port)
            try client.send((0..<50).map { RawClient.request("POST", "/\($0)", body: "body") }.joined())
            for number in 0..<50 { #expect(try client.readResponse().text == "/\(number) body") }
        }
    }

    @Test func respondsIfTheWorkIsAlreadyDone() async throws {
        let handler = TestHandler { _ in .eventually { Response(text: "at once") } }
        try await withServer(handler) { port in
            let client = try RawClient(port)
            for _ in 0..<1_000 { #expect(try client.exchange().text == "at once") }
        }
    }

    @Test(arguments: [true, false])
    func releasesExchangesOfDisconnectedClients(withReset: Bool) async throws {
        let gate = Gate()
        let waiting = Shared(0)
        let handler = TestHandler { request in
            guard request.head.path == "/wait" else { return .now(Response(text: "fine")) }
            return .eventually {
                waiting.change { $0 += 1 }
                await gate.pass()
                return Response(text: String(repeating: "x", count: 100_000))
            }
        }
        try await withServer(handler) { port in
            var clients = try (0..<50).map { _ in try RawClient(port) }
            for client in clients {
                try client.send(RawClient.request("GET", "/wait"))
                if withReset { client.resetOnClose() }
            }
            expectSoon { waiting.value == 50 }
            clients = []
            gate.open()
            #expect(try RawClient(port).exchange().text == "fine")
        }
    }

    @Test func respondsWith503AfterTheWaitLimit() async throws {
        let wasCancelled = Shared(false)
        let lateEnds = Shared<[ResponseStream.End]>([])
        let handler = TestHandler { request in
            guard request.head.path == "/never" else { return .now(Response(text: "fine")) }
            return .eventually {
                try? await Task.sleep(for: .seconds(3_600))
                wasCancelled.change { $0 = Task.isCancelled }
                let stream = ResponseStream { end in lateEnds.change { $0.append(end) } }
                return Response(status: .ok, body: .stream(stream))
            }
        }
        try await withServer(handler, configure: { $0.waitLimit = .milliseconds(200) }) { port in
            let client = try RawClient(port)
            let duration = try ContinuousClock().measure {
                let response = try client.exchange("GET", "/never")
                #expect(response.status == 503)
                #expect(response.text == RequestFault.answerOverdue.description)
                #expect(!response.closes)
            }
            #expect(duration >= .milliseconds(200))
            expectSoon { wasCancelled.value }
            expectSoon { lateEnds.value == [.clientGone] }
            #expect(try client.exchange().text == "fine")
        }
    }
}

/// A gate that is closed until it is opened once.
final class Gate: Sendable {
    private let state = Shared<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.change { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.change { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
