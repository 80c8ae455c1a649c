import HTTPServer
import HTTPTypes
import Testing

@Suite struct WebSocketTests {
    @Test func ownerClosesItsSocket() async throws {
        let isClosed = Shared(false)
        let handler = TestHandler { request in
            let upgrade = WebSocketUpgrade(request.head) { socket in
                WebSocketReceiver(
                    receive: { _ in
                        socket.close()
                        return nil
                    }, closed: { isClosed.change { $0 = true } })
            }
            return upgrade.map(Answer.webSocket) ?? .now(Response(.badRequest, text: "no handshake"))
        }
        let frame = try await withServer(handler) { port -> [UInt8] in
            let client = try RawClient(port)
            let fields = [
                "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==",
            ]
            try client.send(RawClient.request("GET", "/", fields: fields))
            guard try client.readHead().status == 101 else { return [] }
            // The text "a" with a mask of zeros.
            try client.send([0x81, 0x81, 0, 0, 0, 0, 0x61])
            return try client.readUntilClosed()
        }
        // The code 1001: the service cannot serve it now.
        #expect(frame == [0x88, 0x02, 0x03, 0xE9])
        #expect(isClosed.value)
    }

    /// The answer counts until the peer has read it, and the next message waits until then.
    @Test func aPeerReadsALargeAnswer() async throws {
        let budget = ResponseBudget(bytes: 64 << 20, bytesOfHolder: 64 << 20)
        let count = 15 << 20
        let messages = Shared(0)
        let handler = TestHandler { request in
            let upgrade = WebSocketUpgrade(request.head) { socket in
                WebSocketReceiver(
                    receive: { _ in
                        let number = messages.change { messages in
                            messages += 1
                            return messages
                        }
                        guard number == 1 else {
                            socket.close()
                            return nil
                        }
                        let memory = budget.share(of: "peer")
                        _ = memory.resize(to: count)
                        return WebSocketReply([UInt8](repeating: 0x61, count: count), memory: memory)
                    }, closed: {})
            }
            return upgrade.map(Answer.webSocket) ?? .now(Response(.badRequest, text: "no handshake"))
        }
        let received = try await withServer(handler) { port -> [UInt8] in
            let client = try RawClient(port)
            let fields = [
                "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==",
            ]
            try client.send(RawClient.request("GET", "/", fields: fields))
            guard try client.readHead().status == 101 else { return [] }
            // Two texts "a" with a mask of zeros.
            for _ in 0..<2 { try client.send([0x81, 0x81, 0, 0, 0, 0, 0x61]) }
            expectSoon { budget.held > 0 }
            #expect(messages.value == 1)
            return try client.readUntilClosed()
        }
        #expect(received.count == 10 + count + 4)
        #expect(messages.value == 2 && budget.held == 0)
    }
}
