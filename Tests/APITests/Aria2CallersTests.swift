import Aria2RPC
import Downloads
import HTTPServer
import HTTPTypes
import TestKit
import Testing

@testable import API
@testable import Storage

/// The callers of the calls of one message.
@Suite struct Aria2CallersTests {
    private let folder: TemporaryFolder
    private let time = ManualTime()
    private let store: Store
    private let callers: Aria2Callers

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Store.open(at: folder.path, time: time)
        let authentication = Authentication(
            token: "first", tokens: store.tokens, signIns: SignIns(key: []), time: time)
        callers = Aria2Callers(
            head: RequestHead(method: .post, target: "/jsonrpc"), needsToken: false, authentication: authentication,
            rates: RequestRates(time: time), store: store)
    }

    private func createToken(_ secret: String) async throws -> Token {
        let new = NewToken(grant: Grant(.jobs)!, quotas: TokenQuotas(requestsPerSecond: 1))
        return try await store.createToken(new, with: TokenDigest(of: secret))
    }

    @Test func messageCountsOnceForEachToken() async throws {
        for secret in ["a", "b"] {
            let token = try await createToken(secret)
            for _ in 0..<3 { #expect(try callers.caller(secret).creator.token == token.id) }
        }
    }

    @Test func callAfterTheEndOfItsTokenIsRefused() async throws {
        let token = try await createToken("a")
        #expect(try callers.caller("a").creator.token == token.id)
        try await store.deleteToken(token.id)
        #expect(throws: RPCError.unauthorized) { try callers.caller("a") }
        #expect(try callers.caller("first").creator.token == nil)
    }
}
