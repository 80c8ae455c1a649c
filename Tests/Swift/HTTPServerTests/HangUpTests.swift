// Clients that disconnect while they wait or read a stream.

import HTTPServer
import HTTPTypes
import Testing

@Suite struct HangUpTests {
    /// The ways in which a client can disconnect.
    enum Leaving: CaseIterable, Sendable { case closing, resetting, shuttingDown }

    private static func leave(_ clients: inout [RawClient], _ leaving: Leaving) {
        for client in clients {
            switch leaving {
            case .closing: break
            case .resetting: client.resetOnClose()
            case .shuttingDown: client.shutdownWriting()
            }
        }
        if leaving != .shuttingDown { clients = [] }
    }

    @Test(arguments: Leaving.allCases)
    func disconnectCancelsWaits(_ leaving: Leaving) async throws {
        let (begun, ended) = (Shared(0), Shared(0))
        let handler = TestHandler { request in
            guard request.head.path == "/wait" else { return .now(Response(text: "fine")) }
            return .whileConnected {
                begun.change { $0 += 1 }
                try? await Task.sleep(for: .seconds(3_600))
                ended.change { $0 += 1 }
                return Response(text: "nothing")
            }
        }
        try await withServer(handler) { port in
            var clients = try (0..<50).map { _ in try RawClient(port) }
            let stays = try RawClient(port)
            for client in clients + [stays] { try client.send(RawClient.request("GET", "/wait")) }
            expectSoon { begun.value == 51 }
            Self.leave(&clients, leaving)
            expectSoon { ended.value == 50 }
            // The remaining clients still wait.
            #expect(try RawClient(port).exchange().text == "fine")
            #expect(ended.value == 50)
            withExtendedLifetime(stays) {}
        }
    }

    @Test(arguments: Leaving.allCases)
    func disconnectNotifiesTheOwnerOfAParkedResponse(_ leaving: Leaving) async throws {
        let (parked, gone, settled) = (Shared(0), Shared(0), Shared(0))
        let handler = TestHandler { _ in
            .parked { pending in
                pending.observe(
                    onDisconnect: {
                        gone.change { $0 += 1 }
                        pending.settle(with: Response(text: "nothing"))
                    },
                    onSettled: { settled.change { $0 += 1 } })
                parked.change { $0 += 1 }
            }
        }
        try await withServer(handler) { port in
            var clients = try (0..<50).map { _ in try RawClient(port) }
            let stays = try RawClient(port)
            for client in clients + [stays] { try client.send(RawClient.request("GET", "/wait")) }
            expectSoon { parked.value == 51 }
            Self.leave(&clients, leaving)
            expectSoon { settled.value == 50 }
            #expect(gone.value == 50)
            withExtendedLifetime(stays) {}
        }
        // The server calls the handler after it has resumed the connection, possibly on another thread.
        try await onThread { expectSoon { settled.value == 51 } }
    }

    /// The streams have no heartbeat, so nothing is written to them.
    @Test(arguments: Leaving.allCases)
    func disconnectEndsStreams(_ leaving: Leaving) async throws {
        let ends = Shared<[ResponseStream.End]>([])
        let handler = TestHandler { _ in
            let stream = ResponseStream { end in ends.change { $0.append(end) } }
            stream.write(Array("hello".utf8))
            return .now(Response(status: .ok, body: .stream(stream)))
        }
        try await withServer(handler) { port in
            var clients = try (0..<50).map { _ in try RawClient(port) }
            for client in clients {
                try client.send(RawClient.request())
                _ = try client.readHead()
                #expect(try client.readChunk() == Array("hello".utf8))
            }
            Self.leave(&clients, leaving)
            expectSoon { ends.value == Array(repeating: .clientGone, count: 50) }
        }
    }

    /// Reuses one connection many times. An earlier wait must not make it count as disconnected.
    @Test func reusesAConnectionAfterAWait() async throws {
        let handler = TestHandler { _ in .whileConnected { Response(text: "\(Task.isCancelled)") } }
        try await withServer(handler) { port in
            let client = try RawClient(port)
            for _ in 0..<200 { #expect(try client.exchange().text == "false") }
        }
    }
}
