// The memory for the bodies of all connections together.

import HTTPTypes
import Testing

@testable import HTTPServer

@Suite struct BodyBudgetTests {
    private static let free = ResponseBudget.freeBytes

    @Test func countsOnlyTheBytesBeyondTheFreeOnes() {
        let budget = BodyBudget(bytes: 100)
        #expect(budget.grow(from: 0, to: Self.free))
        #expect(budget.grow(from: Self.free, to: Self.free + 100))
        #expect(!budget.hasRoom(forBodyOf: Self.free + 1))
        #expect(budget.hasRoom(forBodyOf: Self.free))
        // A small body is always accepted.
        #expect(budget.grow(from: 0, to: Self.free))
        #expect(!budget.grow(from: Self.free, to: Self.free + 1))
        budget.giveBack(bodyOf: Self.free)
        #expect(!budget.hasRoom(forBodyOf: Self.free + 1))
        budget.giveBack(bodyOf: Self.free + 100)
        #expect(budget.grow(from: 0, to: Self.free + 100))
    }

    @Test func takesNothingForARefusedBody() {
        let budget = BodyBudget(bytes: 100)
        #expect(!budget.grow(from: 0, to: Self.free + 101))
        #expect(budget.grow(from: 0, to: Self.free + 100))
    }

    /// A body that announces its length, and one that does not.
    @Test(arguments: [["Content-Length: 300000"], ["Transfer-Encoding: chunked"]])
    func answers503BeyondTheBudgetAndServesAgainAfterwards(framing: [String]) async throws {
        try await withServer(Self.accepting) {
            $0.maxBytesOfBodies = 400_000
        } _: { port in
            let refused = try repeated { try Self.whileAnotherBodyIsHeld(port, framing) }
            #expect(refused.text == RequestFault.bodiesTooLarge.description)
            let served = try repeated { try Self.post(port, framing).flatMap { $0.status == 200 ? $0 : nil } }
            #expect(served.body.count > 300_000)
        }
    }

    /// A client that leaves returns the memory of its body, at the latest when the time for its request is over.
    @Test func returnsTheMemoryOfAConnectionThatIsLost() async throws {
        try await withServer(Self.accepting) {
            ($0.maxBytesOfBodies, $0.bodyGrace, $0.bodyDeadline) = (300_000, .milliseconds(500), .milliseconds(500))
        } _: { port in
            for _ in 0..<5 {
                let leaver = try RawClient(port)
                try leaver.send(RawClient.request("POST", "/", fields: ["Content-Length: 300000"]))
                try leaver.send([UInt8](repeating: 1, count: 250_000))
            }
            let framing = ["Content-Length: 300000"]
            _ = try repeated { try Self.post(port, framing).flatMap { $0.status == 200 ? $0 : nil } }
        }
    }

    private static var accepting: TestHandler {
        var handler = TestHandler.echo
        handler.admitting = { _ in .accept(maxBodyBytes: 1 << 20) }
        return handler
    }

    /// - Returns: the refusal of a second body; nil if the server has read the bodies in another order.
    private static func whileAnotherBodyIsHeld(_ port: UInt16, _ framing: [String]) throws -> RawResponse? {
        let holder = try RawClient(port)
        try holder.send(RawClient.request("POST", "/held", fields: ["Content-Length: 300000"]))
        // If the server refuses this body instead, it closes the connection two seconds later.
        let isHeld = (try? holder.send([UInt8](repeating: 1, count: 299_999))) != nil
        let response = try post(port, framing)
        // A small request is served meanwhile.
        #expect(try RawClient(port).exchange("POST", "/small", body: "x").status == 200)
        guard isHeld, (try? holder.send([1])) != nil, (try? holder.readResponse().status) == 200,
            response?.status == 503
        else { return nil }
        return response
    }

    /// - Returns: nil if the server closed the connection.
    private static func post(_ port: UInt16, _ framing: [String]) throws -> RawResponse? {
        let client = try RawClient(port)
        do {
            try client.send(RawClient.request("POST", "/", fields: framing))
            try client.send(framed(300_000, framing))
            return try client.readResponse()
        } catch is RawClient.Failure {
            return nil
        }
    }

    private static func framed(_ count: Int, _ framing: [String]) -> [UInt8] {
        let bytes = [UInt8](repeating: 2, count: count)
        guard framing == ["Transfer-Encoding: chunked"] else { return bytes }
        return Array("\(String(count, radix: 16))\r\n".utf8) + bytes + Array("\r\n0\r\n\r\n".utf8)
    }

    /// Repeats until the server has noticed what other connections sent, for at most a minute.
    private func repeated<Value>(_ attempt: () throws -> Value?) throws -> Value {
        let end = ContinuousClock.now + .seconds(60)
        while .now < end { if let value = try attempt() { return value } }
        throw RawClient.Failure(description: "the server never answered as expected")
    }
}
