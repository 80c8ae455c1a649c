import Formats
import TestKit
import Testing

/// A proxy that demands credentials (407). They belong to the session's `proxy`, and never to the job.
@Suite struct ProxyCredentialsTests {
    private let scene: Scene
    private var api: APIClient { scene.api }

    init() async throws { scene = try await Scene() }

    private func declare(_ proxy: String, waitFor reasons: [String] = ["credentials"]) async throws {
        try await api.declareSession(
            "films", ["proxy": .string(proxy), "wait_for": .strings(reasons), "tls": ["verify": false]])
    }

    private func submit(_ url: String, _ members: (String, JSON)...) async throws -> String {
        var order: JSONObject = ["url": .string(url), "session": "films", "retry": ["max_attempts": 1]]
        for (name, value) in members { order[name] = value }
        return try await api.submit(.object(order))
    }

    @Test(.enabled(if: TinyProxy.isAvailable), arguments: ["http", "https"])
    func namesProxyAndContinuesWhenSessionHasItsCredentials(_ scheme: String) async throws {
        let proxy = try await TinyProxy(demanding: "me", "pw")
        let server = try await TLSOrigin()
        server.origin.serve("/file", .file(scene.bytes))
        let url = scheme == "https" ? server.url("/file") : scene.origin.url("/file")
        try await declare("http://127.0.0.1:\(proxy.port)")
        let id = try await submit(url)
        let job = try await api.waitForJob(id, toWaitFor: .credentials)
        #expect(job["cause"]["code"] == "proxy_credentials_required")
        #expect(job["cause"]["status"] == 407)
        let message = job["cause"]["message"].string ?? ""
        #expect(message.contains("The proxy http://127.0.0.1:\(proxy.port) asks for credentials"), "\(message)")
        #expect(job["challenge"]["scheme"] == "basic")
        #expect(try await api.session("films")["counts"]["waiting"] == 1)

        // Credentials of the job are for the server, so they end no wait for the proxy.
        let credentials: JSON = ["type": "basic", "username": "me", "password": "pw"]
        #expect(try await api.change(id, ["credentials": credentials])["state"] == "waiting")
        try await api.change(id, ["credentials": nil])

        // A declaration with the same proxy changes nothing.
        try await declare("http://127.0.0.1:\(proxy.port)")
        #expect(try await api.job(id)["state"] == "waiting")
        try await declare("http://me:wrong@127.0.0.1:\(proxy.port)")
        let refused = try await api.waitForJob(id, toWaitFor: .credentials, attempts: 2)
        let told = refused["cause"]["message"].string ?? ""
        // tinyproxy answers wrong credentials to a request without a tunnel with 401, as if they were the server's.
        if scheme == "https" { #expect(told.contains("refused its credentials"), "\(told)") }
        try await declare("http://me:pw@127.0.0.1:\(proxy.port)")
        if refused["cause"]["code"] != "proxy_credentials_required" { try await api.act(.resume, on: id) }
        let done = try await api.waitForJob(id, .succeeded)
        #expect(done["cause"] == .null)
        #expect(done["challenge"] == .null)
    }

    @Test func failsWithCodeOfProxyUnlessWaitingForCredentials() async throws {
        let proxy = try Origin()
        proxy.serve("/file", .file(scene.bytes), .demandingProxyBasic("me", "pw"))
        try await declare("http://127.0.0.1:\(proxy.port)", waitFor: ["url"])
        // A mirror would be asked through the same proxy.
        let id = try await api.submit([
            "urls": ["http://one.invalid/file", "http://two.invalid/file"], "session": "films",
        ])
        let job = try await api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "proxy_credentials_required")
        #expect(job["challenge"] == ["scheme": "basic", "realm": "proxy"])
        #expect(proxy.requests.map(\.target) == ["http://one.invalid/file"])
    }

    /// A job with mirrors waits as well, because no mirror would help.
    @Test func queuesEveryWaitingJobOfTheSessionAtOnce() async throws {
        let proxy = try Origin()
        proxy.serve("/file", .file(scene.bytes), .demandingProxyBasic("me", "pw"))
        proxy.serve("/protected", .file(scene.bytes), .demandingBasic("me", "pw"))
        try await declare("http://127.0.0.1:\(proxy.port)")
        let ids = try await [
            submit("http://one.invalid/file"), submit("http://two.invalid/file", ("destination", ["filename": "two"])),
        ]
        for id in ids { try await api.waitForJob(id, toWaitFor: .credentials) }
        // This one waits for the server's credentials, which the proxy does not change.
        let other = try await submit("http://three.invalid/protected")
        #expect(try await api.waitForJob(other, toWaitFor: .credentials)["cause"]["code"] == "credentials_required")
        try await declare("http://me:pw@127.0.0.1:\(proxy.port)")
        for id in ids { try await api.waitForJob(id, .succeeded) }
        #expect(try await api.job(other)["state"] == "waiting")
        let types = try await api.types(of: ids[0])
        #expect(types == ["job.created", "job.started", "job.waiting", "job.started", "job.succeeded"])
    }

    /// The session gets the credentials while the proxy is about to refuse the former ones.
    @Test(arguments: [["credentials"], []] as [[String]])
    func continuesWhenSessionGetsCredentialsDuringTheAttempt(_ reasons: [String]) async throws {
        let (proxy, gate) = (try Origin(), Gate())
        proxy.serve(
            "/file", .file(scene.bytes), .demandingProxyBasic("me", "pw"), .waitingBeforeHead(for: gate).once)
        try await declare("http://127.0.0.1:\(proxy.port)", waitFor: reasons)
        let id = try await submit("http://one.invalid/file")
        #expect(await gate.reached())
        try await declare("http://me:pw@127.0.0.1:\(proxy.port)", waitFor: reasons)
        gate.open()
        #expect(try await api.waitForJob(id, .succeeded)["attempts"] == 2)
    }

    /// A 407 that no HTTP proxy sent is an answer of the server.
    @Test func takesStatus407OfServerForAnAnswer() async throws {
        let challenge = (name: "Proxy-Authenticate", value: "Basic realm=x")
        scene.origin.serve("/odd", .fixed(status: 407, headers: [challenge]))
        let tunnels = try TunnelProxy()
        try await declare("socks5://127.0.0.1:\(tunnels.port)")
        for members: [(String, JSON)] in [[("session", "films")], [("session", "default")]] {
            let id = try await api.submit(scene.order("/odd", ("retry", ["max_attempts": 1]), members[0]))
            #expect(try await api.waitForJob(id, .failed)["failure"]["code"] == "bad_status")
        }
    }
}
