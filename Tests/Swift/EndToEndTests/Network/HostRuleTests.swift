import CurlClient
import Formats
import TestKit
import Testing

/// Rules for the hosts and ports of downloads, and denied networks.
@Suite struct HostRuleTests {
    private let bytes = Content.random(seed: 52, count: 10_000)
    private let origin: Origin
    private let canary: Canary

    init() throws {
        (origin, canary) = (try Origin(), try Canary())
        origin.serve("/file", .file(bytes))
    }

    private func start(_ arguments: String...) async throws -> FetchdProcess {
        try await FetchdProcess.start(.init(arguments: arguments))
    }

    private func outcome(of url: String, _ fetchd: some TestedService, _ members: JSONObject = [:]) async throws -> JSON
    {
        var order = members
        if order["urls"] == nil { order["url"] = .string(url) }
        return try await fetchd.api.waitForOutcome(fetchd.api.submit(.object(order)))
    }

    private func expectRefused(_ job: JSON, _ host: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(job["failure"]["code"] == "blocked_address", "\(job.written)", sourceLocation: sourceLocation)
        #expect(job["failure"]["attempts"] == 1, sourceLocation: sourceLocation)
        let message = job["failure"]["message"].string ?? ""
        #expect(
            message.hasPrefix("The service does not download from \(host): see its settings --allow-origin-host"),
            "\(message)", sourceLocation: sourceLocation)
    }

    private func url(_ host: String, _ path: String = "/file") -> String { "http://\(host):\(origin.port)\(path)" }

    @Test func downloadsOnlyFromAllowedHosts() async throws {
        let fetchd = try await start(
            "--allow-origin-host", "files.localhost", "--allow-origin-host", "*.cdn.localhost", "--deny-origin-host",
            "bad.cdn.localhost")
        for host in ["files.localhost", "FILES.localhost", "a.cdn.localhost", "a.b.cdn.localhost"] {
            let job = try await outcome(of: url(host), fetchd)
            #expect(job["state"] == "succeeded", "\(host): \(job.written)")
        }
        let served = origin.requests.count
        for host in ["localhost", "cdn.localhost", "bad.cdn.localhost", "127.0.0.1", "xfiles.localhost"] {
            expectRefused(try await outcome(of: url(host), fetchd), "\(host):\(origin.port)")
        }
        #expect(origin.requests.count == served)
    }

    @Test func judgesEveryRedirectAndMirror() async throws {
        let fetchd = try await start("--deny-origin-host", "*.bad.localhost", "--deny-origin-host", "127.0.0.1")
        origin.serve("/away", .redirect(to: "http://a.bad.localhost:\(canary.port)/file"))
        origin.serve("/literal", .redirect(to: "http://0x7f.1:\(canary.port)/file"))
        origin.serve("/twice", .redirect(to: url("good.localhost", "/away")))
        for path in ["/away", "/twice"] {
            let job = try await outcome(of: url("good.localhost", path), fetchd)
            expectRefused(job, "a.bad.localhost:\(canary.port)")
        }
        expectRefused(try await outcome(of: url("good.localhost", "/literal"), fetchd), "127.0.0.1:\(canary.port)")
        let mirrored = try await outcome(
            of: "", fetchd,
            ["urls": [.string("http://x.bad.localhost:\(canary.port)/file"), .string(url("good.localhost"))]])
        #expect(mirrored["state"] == "succeeded", "\(mirrored.written)")
        #expect(try canary.connections() == 0)
    }

    @Test func downloadsOnlyFromAllowedPorts() async throws {
        let fetchd = try await start(
            "--allow-origin-port", "443", "--allow-origin-port", "\(origin.port)-\(origin.port)")
        #expect(try await outcome(of: url("127.0.0.1"), fetchd)["state"] == "succeeded")
        expectRefused(
            try await outcome(of: "http://127.0.0.1:\(canary.port)/file", fetchd), "127.0.0.1:\(canary.port)")
        expectRefused(try await outcome(of: "http://127.0.0.1/file", fetchd), "127.0.0.1:80")
        #expect(try canary.connections() == 0)
    }

    /// The proxy would resolve the name.
    @Test(arguments: ["http", "socks5"]) func judgesTheHostBeforeAProxyIsAsked(_ scheme: String) async throws {
        let fetchd = try await start("--deny-origin-host", "*.bad.example")
        try await fetchd.api.declareSession("s", ["proxy": .string("\(scheme)://127.0.0.1:\(canary.port)")])
        expectRefused(
            try await outcome(of: "http://a.bad.example/file", fetchd, ["session": "s"]), "a.bad.example:80")
        for host in ["10.0.0.1", "[::1]", "169.254.169.254", "0xa.1"] {
            let job = try await outcome(of: "http://\(host)/file", fetchd, ["session": "s"])
            #expect(job["failure"]["code"] == "blocked_address", "\(job.written)")
            #expect(job["failure"]["message"].string?.contains("--allow-network") == true)
        }
        #expect(try canary.connections() == 0)
    }

    /// It takes precedence over the allowed network, also for the webhooks of administrators.
    @Test func deniedNetworkIsReachedByNothing() async throws {
        let fetchd = try await start("--deny-network", "127.0.0.1/32")
        let job = try await outcome(of: url("127.0.0.1"), fetchd)
        #expect(job["failure"]["code"] == "blocked_address")
        #expect(origin.connectionCount == 0)
        try await fetchd.api.declareWebhook(url: "http://127.1:\(canary.port)/", events: ["job.*"])
        let id = try await fetchd.api.submit(["url": .string(url("127.0.0.1"))])
        try await fetchd.api.waitForJob(id, .failed)
        let attempt = try await eventually("an attempt of a delivery") {
            let deliveries = try await fetchd.api.get("/v1/sessions/default/webhooks/receiver/deliveries").json
            let attempts = deliveries["deliveries"].arrayValue?.flatMap { $0["attempts"].arrayValue ?? [] }
            return attempts?.first
        }
        #expect(attempt["status"] == .null)
        #expect(attempt["response"] == .null)
        #expect(attempt["error"].string?.hasSuffix("are not allowed.") == true, "\(attempt.written)")
        #expect(try canary.connections() == 0)
    }

    @Test func namesTheOptionThatExcludesAPublicAddress() async throws {
        let fetchd = try await start("--deny-network", "192.0.0.0/2")
        let job = try await outcome(of: "http://198.41.0.4/file", fetchd)
        #expect(
            job["failure"]["message"]
                == "198.41.0.4:80 is in a network that --deny-network of the service excludes.", "\(job.written)")
    }
}
