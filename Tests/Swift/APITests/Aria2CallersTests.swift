import Aria2RPC
import Downloads
import HTTPTypes
import TestKit
import Testing

@testable import API
@testable import HTTPServer
@testable import Storage
@testable import StorageSQLite

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
            token: "first", tokens: store.tokens, cookies: SessionCookies(key: []), time: time)
        callers = Aria2Callers(
            head: RequestHead(method: .post, target: "/jsonrpc"), needsToken: false, authentication: authentication,
            rates: RequestRates(time: time), store: store)
    }

    private func createToken(_ secret: String) async throws -> Token {
        let new = NewToken(grant: Permissions(.jobs)!, quotas: TokenQuotas(requestsPerSecond: 1))
        return try await store.createToken(new, with: TokenDigest(of: secret))
    }

    /// One message has many calls, so the message is no unit for a quota.
    @Test func eachCallCountsForItsToken() async throws {
        for secret in ["a", "b"] {
            let token = try await createToken(secret)
            #expect(try callers.caller(secret).creator.token == token.id)
            #expect(throws: RPCError.self) { try callers.caller(secret) }
        }
        time.advance(by: 1)
        _ = try callers.caller("a")
        for _ in 0..<3 { _ = try callers.caller("first") }
    }

    /// The memory of an answer belongs to the first caller of the message.
    @Test func theFirstCallerHoldsTheAnswer() async throws {
        let address = callers.holder
        _ = try await createToken("a")
        #expect(throws: RPCError.unauthorized) { try callers.caller("unknown") }
        #expect(callers.holder == address)
        _ = try callers.caller("a")
        let holder = callers.holder
        _ = try callers.caller("first")
        #expect(holder != address && callers.holder == holder)
    }

    @Test func callAfterTheEndOfItsTokenIsRefused() async throws {
        let token = try await createToken("a")
        #expect(try callers.caller("a").creator.token == token.id)
        time.advance(by: 1)
        try await store.deleteToken(token.id)
        #expect(throws: RPCError.unauthorized) { try callers.caller("a") }
        #expect(try callers.caller("first").creator.token == nil)
    }
}
