import Formats
import TestKit
import Testing

/// Servers that demand credentials (`wait_for: ["credentials"]`): the job shows the challenge, and a PATCH supplies the
/// credentials.
@Suite struct CredentialsNeededTests {
    /// A way in which a server demands credentials: its challenge, the right credentials and wrong ones.
    struct Door: Sendable, CustomTestStringConvertible {
        let scheme: String
        let realm: JSON
        let behaviour: OriginBehaviour
        let right: JSON
        let wrong: JSON

        var testDescription: String { scheme }
    }

    private static let doors = [
        Door(
            scheme: "basic", realm: "test", behaviour: .demandingBasic("me", "Pass:wörd"),
            right: ["type": "basic", "username": "me", "password": "Pass:wörd"],
            wrong: ["type": "basic", "username": "me", "password": "password"]),
        Door(
            scheme: "digest", realm: "a realm, with a comma",
            behaviour: .demandingDigest(OriginDigest("me", "password", algorithm: .sha256)),
            right: ["type": "digest", "username": "me", "password": "password"],
            wrong: ["type": "digest", "username": "me", "password": "Password"]),
        Door(
            scheme: "bearer", realm: nil, behaviour: .demandingBearer("f00.b4r"),
            right: ["type": "bearer", "token": "f00.b4r"], wrong: ["type": "bearer", "token": "b4r.f00"]),
    ]

    private let scene: Scene
    private var api: APIClient { scene.api }

    init() async throws { scene = try await Scene() }

    private func submit(_ path: String = "/protected", _ members: (String, JSON)...) async throws -> String {
        var order: JSONObject = [
            "url": .string(scene.origin.url(path)), "wait_for": ["credentials"], "retry": ["base_seconds": 0.01],
        ]
        for (name, value) in members { order[name] = value }
        return try await api.submit(.object(order))
    }

    @Test(arguments: doors)
    func showsChallengeAndContinuesWithPatchedCredentials(_ door: Door) async throws {
        scene.origin.serve("/protected", .file(scene.bytes), door.behaviour)
        let id = try await submit()
        let challenge: JSON = ["scheme": .string(door.scheme), "realm": door.realm]
        let job = try await api.waitForJob(id, toWaitFor: .credentials, attempts: 1)
        #expect(job["challenge"] == challenge)
        #expect(job["retry_at"] == .null)
        let told = try #require(try await api.events(of: id).last)
        #expect(told["type"] == "job.waiting")
        #expect(told["data"]["challenge"] == challenge)
        #expect(told["data"]["failure"]["code"] == "credentials_required")
        #expect(told["data"]["failure"]["status"] == 401)
        try await scene.expectStoredParts([])

        // After wrong credentials the job waits again.
        try await api.change(id, ["credentials": door.wrong])
        #expect(try await api.waitForJob(id, toWaitFor: .credentials, attempts: 2)["challenge"] == challenge)
        // Other changes do not end the wait.
        #expect(try await api.change(id, ["url": .string(scene.origin.url("/protected"))])["state"] == "waiting")
        let patched = try await api.change(id, ["credentials": door.right])
        #expect(["queued", "running"].contains(patched["state"]))
        #expect(patched["challenge"] == .null)
        let done = try await api.waitForJob(id, .succeeded)
        #expect(done["attempts"] == 3)
        #expect(scene.fetchd.downloaded("protected") == scene.bytes)
    }

    @Test(arguments: doors)
    func sendsGivenCredentialsWithFirstRequest(_ door: Door) async throws {
        scene.origin.serve("/protected", .file(scene.bytes), door.behaviour)
        let id = try await submit("/protected", ("credentials", door.right))
        #expect(try await api.waitForJob(id, .succeeded)["attempts"] == 1)
        #expect(scene.fetchd.downloaded("protected") == scene.bytes)
        // Digest needs the server's challenge first.
        #expect(scene.origin.requests(to: "/protected").count == (door.scheme == "digest" ? 2 : 1))
    }

    @Test(.realProcess, arguments: doors)
    func resumesFromOffsetAfterCredentialsArePatched(_ door: Door) async throws {
        scene.origin.serve(
            "/protected", .file(scene.bytes), .closing(after: 120_000).once, door.behaviour.on(2...))
        let id = try await submit()
        try await api.waitForJob(id, toWaitFor: .credentials)
        try await scene.expectStoredParts([120_000])
        try await scene.process.kill()
        try await scene.process.restart()
        #expect(try await api.job(id)["challenge"]["scheme"].string == door.scheme)
        try await api.change(id, ["credentials": door.right])
        #expect(try await api.waitForJob(id, .succeeded)["resume"]["offset"] == 120_000)
        #expect(scene.origin.requests(to: "/protected").last?.header("Range") == "bytes=120000-")
        #expect(scene.fetchd.downloaded("protected") == scene.bytes)
    }

    @Test func failsWithCredentialsRequiredUnlessWaitingForCredentials() async throws {
        let door = Self.doors[0]
        scene.origin.serve("/protected", .file(scene.bytes), door.behaviour)
        let id = try await submit("/protected", ("wait_for", ["url", "space"]))
        let job = try await api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "credentials_required")
        #expect(job["failure"]["status"] == 401)
        try await api.change(id, ["credentials": door.right])
        try await api.act(.retry, on: id)
        try await api.waitForJob(id, .succeeded)
        // Removed credentials are no longer sent.
        let other = try await submit("/protected", ("credentials", door.right), ("not_before", "2999-01-01T00:00:00Z"))
        try await api.change(other, ["credentials": nil, "not_before": nil])
        try await api.waitForJob(other, toWaitFor: .credentials)
        #expect(scene.origin.requests(to: "/protected").last?.header("Authorization") == nil)
    }

    /// Credentials can also be supplied as a request header.
    @Test func acceptsPatchedAuthorizationHeaderAsCredentials() async throws {
        scene.origin.serve("/protected", .file(scene.bytes), .demandingBearer("f00"))
        let id = try await submit()
        try await api.waitForJob(id, toWaitFor: .credentials)
        try await api.change(id, ["headers": ["Authorization": "Bearer f00"]])
        try await api.waitForJob(id, .succeeded)
    }

    @Test(arguments: [
        (#"Basic realm="a \"b\" c", charset="UTF-8", Digest realm="d""#, "basic", #"a "b" c"#),
        ("Negotiate", "negotiate", nil), ("NTLM, Basic realm=x", "ntlm", nil),
        (#"DIGEST qop="auth", realm=plain , nonce="n""#, "digest", "plain"),
    ])
    func showsSchemeAndRealmOfEveryChallenge(_ header: String, _ scheme: String, _ realm: String?) async throws {
        scene.origin.serve("/protected", .fixed(status: 401, headers: [("WWW-Authenticate", header)]))
        let job = try await api.waitForJob(submit(), toWaitFor: .credentials)
        #expect(job["challenge"] == ["scheme": .string(scheme), "realm": .optional(realm)])
    }

    /// Headers and credentials are sent to their own origin only; another port of the same host is another origin.
    @Test func dropsHeadersAndCredentialsOnRedirectToAnotherOrigin() async throws {
        let elsewhere = try Origin()
        elsewhere.serve("/file", .file(scene.bytes))
        elsewhere.serve("/back", .redirect(to: scene.origin.url("/file")))
        let headers: JSON = ["X-Api-Key": "k", "Cookie": "c", "X-Album": "12", "Authorization": "Bearer h"]
        for (index, (target, credentials)) in [
            (elsewhere.url("/file"), Self.doors[0].right), (elsewhere.url("/file"), Self.doors[2].right),
            (elsewhere.url("/file"), .null), (elsewhere.url("/back"), Self.doors[0].right),
        ].enumerated() {
            scene.origin.serve("/\(index)", .redirect(to: target, status: [301, 302, 303, 307][index]))
            let id = try await submit("/\(index)", ("headers", headers), ("credentials", credentials))
            try await api.waitForJob(id, .succeeded)
            let asked = try #require(scene.origin.requests(to: "/\(index)").first)
            #expect(asked.header("X-Album") == "12")
            #expect(asked.header("Authorization") != nil)
        }
        #expect(elsewhere.requests.count == 4)
        for request in elsewhere.requests {
            for name in ["X-Api-Key", "Cookie", "X-Album", "Authorization"] {
                #expect(request.header(name) == nil, "\(name)")
            }
        }
        // A redirect within the origin keeps them.
        scene.origin.serve("/protected", .redirect(to: "/inner"))
        scene.origin.serve("/inner", .file(scene.bytes), Self.doors[0].behaviour)
        let id = try await submit("/protected", ("headers", ["X-Album": "12"]), ("credentials", Self.doors[0].right))
        try await api.waitForJob(id, .succeeded)
        #expect(scene.origin.requests(to: "/inner").first?.header("X-Album") == "12")
    }

    /// A server behind a redirect that demands credentials does not get those of the first server.
    @Test func withholdsCredentialsFromChallengeAfterCrossOriginRedirect() async throws {
        let elsewhere = try Origin()
        elsewhere.serve("/file", .file(scene.bytes), Self.doors[0].behaviour)
        scene.origin.serve("/protected", .redirect(to: elsewhere.url("/file")))
        let id = try await submit("/protected", ("credentials", Self.doors[0].right))
        try await api.waitForJob(id, toWaitFor: .credentials)
        #expect(elsewhere.requests.allSatisfy { $0.header("Authorization") == nil })
    }
}

// MARK: - Proxies

extension CredentialsNeededTests {
    private func declare(_ proxy: String) async throws {
        try await api.declareSession(
            "films", ["proxy": .string(proxy), "wait_for": ["credentials"], "tls": ["verify": false]])
    }

    /// The session's proxy credentials answer the challenge, for HTTP proxies and for SOCKS proxies.
    @Test func showsProxyChallengeAndContinuesWithSessionProxyCredentials() async throws {
        let (plain, tunnel, origin) = (try Origin(), try TunnelProxy(demanding: "me:pw"), scene.origin)
        plain.serve("/file", .file(scene.bytes), .demandingProxyBasic("me", "pw"))
        let ways = [
            ("http://", plain.port, origin.url("/file"), JSON.object(["scheme": "basic", "realm": "proxy"])),
            ("socks5://", tunnel.port, origin.url("/file"), JSON.null),
        ]
        for (scheme, port, url, challenge) in ways {
            try await declare("\(scheme)127.0.0.1:\(port)")
            let id = try await api.submit(["url": .string(url), "session": "films"])
            let job = try await api.waitForJob(id, toWaitFor: .credentials)
            #expect(job["challenge"] == challenge, "\(scheme)")
            let told = try #require(try await api.events(of: id).last)
            #expect(told["data"]["failure"]["code"] == "proxy_credentials_required")
            // After wrong credentials the job waits again.
            try await declare("\(scheme)me:wrong@127.0.0.1:\(port)")
            try await api.waitForJob(id, toWaitFor: .credentials, attempts: 2)
            try await declare("\(scheme)me:pw@127.0.0.1:\(port)")
            try await api.waitForJob(id, .succeeded)
            #expect(try await api.session("films")["configuration"]["proxy"].string == "\(scheme)127.0.0.1:\(port)")
        }
    }

    @Test func showsTunnelProxyChallengeAndContinuesWithSessionProxyCredentials() async throws {
        let tunnel = try TunnelProxy(demanding: "me:pw")
        try await declare("http://127.0.0.1:\(tunnel.port)")
        // No server listens at that port: the refusal comes from the proxy.
        let id = try await api.submit([
            "url": "https://127.0.0.1:1/file", "session": "films", "retry": ["max_attempts": 1],
        ])
        let job = try await api.waitForJob(id, toWaitFor: .credentials)
        #expect(job["challenge"] == ["scheme": "basic", "realm": "proxy"])
        let told = try #require(try await api.events(of: id).last)
        #expect(told["data"]["failure"]["status"] == 407)
        try await declare("http://me:pw@127.0.0.1:\(tunnel.port)")
        #expect(try await api.waitForJob(id, .failed)["failure"]["code"] != "proxy_credentials_required")
        #expect(tunnel.tunnels.map(\.credentials) == [nil, "Basic bWU6cHc="])
    }
}
