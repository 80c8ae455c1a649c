// The memory for the answers of all connections together.

import HTTPTypes
import Testing

@testable import HTTPServer

@Suite struct ResponseBudgetTests {
    private static let free = ResponseBudget.freeBytes

    @Test func countsOnlyTheBytesBeyondTheFreeOnes() {
        let budget = ResponseBudget(bytes: 100, bytesOfHolder: 100)
        let (one, other) = (budget.share(of: "a"), budget.share(of: "b"))
        #expect(one.resize(to: Self.free) && budget.held == 0)
        #expect(one.resize(to: Self.free + 100) && budget.held == 100)
        #expect(!other.resize(to: Self.free + 1))
        #expect(other.resize(to: Self.free))
        #expect(one.resize(to: Self.free + 40) && budget.held == 40)
        #expect(other.resize(to: Self.free + 60) && !other.resize(to: Self.free + 61))
    }

    @Test func aHolderHasOnlyAPart() {
        let budget = ResponseBudget(bytes: 100, bytesOfHolder: 60)
        let shares = [budget.share(of: "a"), budget.share(of: "a"), budget.share(of: "b")]
        #expect(shares[0].resize(to: Self.free + 40))
        #expect(!shares[1].resize(to: Self.free + 21) && shares[1].resize(to: Self.free + 20))
        #expect(!shares[2].resize(to: Self.free + 41) && shares[2].resize(to: Self.free + 40))
    }

    @Test func anAnswerToAChangeIsCountedInAnyCase() {
        let budget = ResponseBudget(bytes: 100, bytesOfHolder: 100)
        do {
            let share = budget.share(of: "a")
            share.force(to: Self.free + 500)
            #expect(budget.held == 500)
            #expect(!budget.share(of: "a").resize(to: Self.free + 1))
            withExtendedLifetime(share) {}
        }
        #expect(budget.held == 0)
    }

    /// A response counts until its client has read it, or has gone.
    @Test func aResponseCountsWhileItsClientDoesNotRead() async throws {
        let budget = ResponseBudget(bytes: 64 << 20, bytesOfHolder: 64 << 20)
        let body = [UInt8](repeating: 7, count: 16 << 20)
        let handler = TestHandler { _ in
            let memory = budget.share(of: "client")
            guard memory.resize(to: body.count) else { return .now(Response(.serviceUnavailable, text: "")) }
            var response = Response(status: .ok, body: .bytes(body))
            response.memory = memory
            return .now(response)
        }
        try await withServer(handler) { port in
            let reader = try RawClient(port)
            #expect(try reader.exchange().body.count == body.count)
            expectSoon { budget.held == 0 }
            do {
                let idle = try RawClient(port)
                try idle.send(RawClient.request("GET", "/"))
                expectSoon { budget.held == body.count - Self.free }
                withExtendedLifetime(idle) {}
            }
            expectSoon { budget.held == 0 }
        }
    }

    @Test func aKeptResponseCountsWhileItIsSent() async throws {
        let budget = ResponseBudget(bytes: 64 << 20, bytesOfHolder: 64 << 20)
        let kept = Shared<PreparedResponse?>(nil)
        var response = Response(status: .ok, body: .bytes([UInt8](repeating: 7, count: 16 << 20)))
        response.memory = budget.share(of: "kept")
        #expect(response.memory?.resize(to: 16 << 20) == true)
        kept.change { [response] in $0 = PreparedResponse(response) }
        response = Response(status: .ok)
        let handler = TestHandler { _ in
            kept.change { kept in
                defer { kept = nil }
                return kept.map(Answer.prepared) ?? .now(Response(text: "none"))
            }
        }
        try await withServer(handler) { port in
            do {
                let idle = try RawClient(port)
                try idle.send(RawClient.request("GET", "/"))
                expectSoon { kept.value == nil }
                #expect(try RawClient(port).exchange().text == "none")
                #expect(budget.held > 0)
                withExtendedLifetime(idle) {}
            }
            expectSoon { budget.held == 0 }
        }
    }
}
