import Downloads
import Foundation
import HTTPTypes
import TestKit
import Testing

@testable import API
@testable import HTTPServer
@testable import Storage

@Suite struct AuthenticationTests {
    private static let time = ManualTime()
    private static var now: Date { time.now }

    private static func stored(_ secret: String, _ scope: Scope, expiresIn seconds: Double? = nil) -> StoredToken {
        StoredToken(
            token: Token(
                id: TokenID("tok_\(secret)"), name: nil, grant: Permissions(scope)!, createdAt: now,
                expiresAt: seconds.map(now.addingTimeInterval)),
            digest: TokenDigest(of: secret), formerDigest: nil)
    }

    private static func caller(
        _ authorization: String?, from address: String = "127.0.0.1", first: String? = nil,
        tokens: [StoredToken] = [], alwaysNeedsToken: Bool = false
    ) throws -> Caller {
        var head = RequestHead(method: .get, target: "/", remoteAddress: address)
        head.headers[.authorization] = authorization
        return try Authentication(
            token: first, tokens: TokenTable(tokens), cookies: SessionCookies(key: []), time: time,
            alwaysNeedsToken: alwaysNeedsToken
        ).caller(of: head)
    }

    private static func challenge(_ body: () throws -> Caller) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? Problem)?.headers[.wwwAuthenticate]
        }
    }

    @Test func admitsOnlyExactToken() throws {
        for right in ["Bearer secret", "bearer  secret", "BEARER secret"] {
            let caller = try Self.caller(right, from: "192.0.2.1", first: "secret")
            #expect(caller.isAdministrator && caller.token == nil)
        }
        for missing in [nil, "", "secret", "Basic secret"] {
            #expect(Self.challenge { try Self.caller(missing, first: "secret") } == "Bearer", "\(missing ?? "-")")
        }
        for wrong in ["Bearer", "Bearer wrong", "Bearer secretx", "Bearer secre", "Bearer secret x"] {
            let challenge = Self.challenge { try Self.caller(wrong, first: "secret") }
            #expect(challenge == "Bearer error=\"invalid_token\"", "\(wrong)")
        }
    }

    @Test func storedTokenHasItsGrant() throws {
        let tokens = Scope.allCases.map { Self.stored($0.rawValue, $0) }
        for scope in Scope.allCases {
            let caller = try Self.caller("Bearer \(scope)", from: "192.0.2.1", first: "first", tokens: tokens)
            #expect(caller.grant == Permissions(scope))
            #expect(caller.identity == "tok_\(scope)")
        }
        #expect(try Self.caller("Bearer first", first: "first", tokens: tokens).isAdministrator)
    }

    @Test func expiredTokenIsRefused() throws {
        let tokens = [Self.stored("old", .read, expiresIn: 0), Self.stored("young", .read, expiresIn: 0.001)]
        #expect(try Self.caller("Bearer young", tokens: tokens).grant == Permissions(.read))
        #expect { try Self.caller("Bearer old", tokens: tokens) } throws: { error in
            let problem = error as? Problem
            return problem?.kind == .unauthorized && problem?.detail.hasPrefix("The token tok_old has expired.") == true
        }
    }

    /// (The address, FETCHD_TOKEN, the stored tokens, always needed) and whether callers without a token are
    /// administrators.
    @Test(
        arguments: [
            ("127.0.0.1", nil, [], false, true), ("127.8.9.1", nil, [], false, true), ("::1", nil, [], false, true),
            ("192.0.2.1", nil, [], false, false), ("::2", nil, [], false, false), ("unknown", nil, [], false, false),
            ("127.0.0.1", nil, [], true, false), ("127.0.0.1", "first", [], false, false),
            ("127.0.0.1", nil, [Scope.sessions], false, true), ("127.0.0.1", nil, [.read, .admin], false, false),
        ] as [(String, String?, [Scope], Bool, Bool)])
    func onlyLoopbackIsOpenUntilAnAdministratorHasAToken(
        _ address: String, _ first: String?, _ scopes: [Scope], _ always: Bool, _ isOpen: Bool
    ) throws {
        let tokens = scopes.map { Self.stored($0.rawValue, $0) }
        let challenge = Self.challenge {
            let caller = try Self.caller(
                nil, from: address, first: first, tokens: tokens, alwaysNeedsToken: always)
            #expect(caller.isAdministrator)
            return caller
        }
        #expect(challenge == (isOpen ? nil : "Bearer"))
        // A wrong token is never taken for none.
        #expect(
            Self.challenge {
                try Self.caller("Bearer wrong", from: address, first: first, tokens: tokens, alwaysNeedsToken: always)
            } == "Bearer error=\"invalid_token\"")
    }

    /// (The address of the connection, the client that a trusted proxy names) and whether it needs no token.
    @Test(arguments: [
        ("127.0.0.1", "203.0.113.9", false), ("127.0.0.1", "127.0.0.1", true), ("unix", "::1", true),
        ("192.0.2.1", "127.0.0.1", false),
    ])
    func clientOfAProxyIsLocalOnlyWithIt(_ address: String, _ forwarded: String, _ isLocal: Bool) {
        var head = RequestHead(method: .get, target: "/", remoteAddress: address)
        head.forwardedAddress = forwarded
        #expect(head.isFromThisMachine == isLocal && head.clientAddress == forwarded)
    }

    @Test func expiryOfTheLastAdministratorOpensNothing() {
        let tokens = [Self.stored("old", .admin, expiresIn: -1)]
        #expect(Self.challenge { try Self.caller(nil, tokens: tokens) } == "Bearer")
    }

    @Test func secretsAreRecognizableAndDiffer() {
        let secrets = (0..<100).map { _ in TokenSecret.random().text }
        #expect(Set(secrets).count == 100)
        for secret in secrets { #expect(secret.wholeMatch(of: /fetchd_[A-Za-z0-9_-]{43}/) != nil, "\(secret)") }
    }
}

@Suite struct CallerTests {
    private static let films = VisibleSessions.matching([SessionPattern(trusted: "films*")])

    private static func caller(_ scope: Scope, _ visible: VisibleSessions = .all) -> Caller {
        Caller(grant: Permissions(scope, in: visible)!, identity: "")
    }

    @Test func scopeAllowsItselfAndSmallerOnes() {
        for scope in Scope.allCases {
            for needed in Scope.allCases {
                for subject in Access.Subject.allCases {
                    let caller = Self.caller(scope)
                    guard scope >= needed else {
                        #expect { try caller.require(needed, of: subject) } throws: { error in
                            let problem = error as? Problem
                            return problem?.kind == .forbidden && problem?.members["scope"] == .string(needed.rawValue)
                                && problem?.headers[.wwwAuthenticate]
                                    == "Bearer error=\"insufficient_scope\", scope=\"\(needed)\""
                        }
                        continue
                    }
                    #expect(throws: Never.self) { try caller.require(needed, of: subject) }
                }
            }
        }
    }

    @Test func boundCallerCannotUseTheWholeService() {
        for scope in Scope.allCases where scope != .admin {
            for subject in Access.Subject.allCases {
                let caller = Self.caller(scope, Self.films)
                if subject == .service {
                    #expect(throws: Problem.self) { try caller.require(.read, of: subject) }
                } else {
                    #expect(throws: Never.self) { try caller.require(.read, of: subject) }
                }
            }
        }
    }

    @Test func boundCallerCreatesOnlyInItsSessions() {
        let caller = Self.caller(.jobs, Self.films)
        #expect(throws: Never.self) { try caller.requireWritable(Name(trusted: "films-2")) }
        #expect { try caller.requireWritable(.default, at: "/session") } throws: { error in
            let problem = error as? Problem
            return problem?.kind == .forbidden && problem?.pointer == "/session"
                && problem?.detail
                    == "The token is bound to the sessions films*, and this request is for the session default."
        }
        #expect(throws: Never.self) { try Self.caller(.jobs).requireWritable(.default) }
    }

    @Test func onlyCallersThatMayChangeAJobSeeItsQuery() {
        #expect(Scope.allCases.map { Self.caller($0).audience } == [.redacted, .full, .full, .full])
    }
}
