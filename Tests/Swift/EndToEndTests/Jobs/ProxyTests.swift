import Formats
import HTTPSemantics
import TestKit
import Testing

/// A session's transfers go through its proxy, and through no other. Only the proxy can resolve the hosts' names.
@Suite struct ProxyTests {
    private let bytes = Content.random(seed: 19, count: 300_000)
    private static let password = "s3cr3t-w0rd"

    private func start(
        _ proxy: String, _ members: JSONObject = [:], environment: [String: String] = [:]
    ) async throws -> FetchdProcess {
        let fetchd = try await FetchdProcess.start(
            .init(arguments: ["--log-level", "trace"], environment: environment))
        try await fetchd.api.declareSession(
            "fixture",
            JSON.object(["proxy": .string(proxy), "retry": ["base_seconds": 0, "max_attempts": 2]]).with(members))
        return fetchd
    }

    private func outcome(_ url: String, _ fetchd: some TestedService) async throws -> JSON {
        let id = try await fetchd.api.submit(["url": .string(url), "session": "fixture"])
        return try await fetchd.api.waitForOutcome(id)
    }

    /// Checks that neither the password nor its encoded form is in any document or log line.
    private func expectNoSecretShown(_ fetchd: some TestedService, sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        var told = fetchd.log
        for path in ["/v1/sessions", "/v1/sessions/fixture", "/v1/jobs", "/v1/events?after=0", "/metrics"] {
            told += try await fetchd.api.get(path).text
        }
        for secret in [Self.password, "YWRhOnMzY3IzdC13MHJk"] {
            #expect(!told.contains(secret), sourceLocation: sourceLocation)
        }
    }

    // MARK: HTTP

    @Test func sendsPlainRequestsToHTTPProxy() async throws {
        let proxy = try Origin()
        proxy.serve("/file", .file(bytes), .closing(after: 100_000).once)
        let fetchd = try await start("http://127.0.0.1:\(proxy.port)")
        let job = try await outcome("http://host.invalid:81/file", fetchd)
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(fetchd.downloaded("file") == bytes)
        #expect(proxy.requests.map(\.target) == ["http://host.invalid:81/file", "http://host.invalid:81/file"])
        #expect(proxy.requests.map { $0.header("Range") } == [nil, "bytes=100000-"])
        #expect(proxy.requests.allSatisfy { $0.header("Proxy-Authorization") == nil })
        // Only this session uses the proxy, so other jobs cannot resolve the name.
        let other = try await fetchd.api.submit([
            "url": "http://host.invalid:81/file", "retry": ["base_seconds": 0, "max_attempts": 1],
        ])
        #expect(try await fetchd.api.waitForOutcome(other)["failure"]["code"] == "name_resolution_failed")
        #expect(
            try await fetchd.api.session("fixture")["configuration"]["proxy"]
                == .string("http://127.0.0.1:\(proxy.port)"))
    }

    @Test func sendsCredentialsToHTTPProxyAndShowsThemNowhere() async throws {
        let proxy = try Origin()
        proxy.serve("/file", .file(bytes), .demandingProxyBasic("ada", Self.password))
        let fetchd = try await start("http://ada:\(Self.password)@127.0.0.1:\(proxy.port)/")
        let job = try await outcome("http://host.invalid/file", fetchd)
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(
            try await fetchd.api.session("fixture")["configuration"]["proxy"]
                == .string("http://127.0.0.1:\(proxy.port)"))
        try await expectNoSecretShown(fetchd)
        // The service keeps the password across a restart, although it never shows it.
        try await fetchd.kill()
        try await fetchd.restart()
        #expect(try await outcome("http://host.invalid/file", fetchd)["state"] == "succeeded")
        try await expectNoSecretShown(fetchd)
    }

    @Test(.enabled(if: TLSOrigin.isAvailable), arguments: ["", "ada:s3cr3t-w0rd@"])
    func tunnelsHTTPSThroughHTTPProxy(_ credentials: String) async throws {
        let server = try await TLSOrigin()
        server.origin.serve("/file", .file(bytes))
        let tunnels = try TunnelProxy(demanding: credentials.isEmpty ? nil : String(credentials.dropLast()))
        let fetchd = try await start(
            "http://\(credentials)127.0.0.1:\(tunnels.port)", ["tls": ["ca_file": .string(server.certificatePath)]])
        let job = try await outcome(server.url("/file"), fetchd)
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(fetchd.downloaded("file") == bytes)
        #expect(tunnels.tunnels.map(\.target) == ["localhost:\(server.port)"])
        #expect(server.origin.requests.allSatisfy { $0.header("Proxy-Authorization") == nil })
        try await expectNoSecretShown(fetchd)
    }

    @Test func failsWithProxyCredentialsRequiredWhenHTTPProxyRefusesThem() async throws {
        let proxy = try Origin()
        proxy.serve("/file", .file(bytes), .demandingProxyBasic("ada", "another"))
        let proxyURL = "http://ada:\(Self.password)@127.0.0.1:\(proxy.port)"
        let fetchd = try await start(proxyURL)
        let job = try await outcome("http://host.invalid/file", fetchd)
        #expect(job["failure"]["code"] == "proxy_credentials_required")
        let name = URLRule.withoutCredentials(proxyURL)
        #expect(job["failure"]["message"].string?.contains("The proxy \(name)") == true, "\(job["failure"].written)")
        #expect(job["failure"]["status"] == 407)
        try await expectNoSecretShown(fetchd)
    }

    // MARK: SOCKS

    @Test(arguments: ["", "ada:s3cr3t-w0rd@"]) func letsSOCKSProxyResolveNames(_ credentials: String) async throws {
        let origin = try Origin()
        origin.serve("/file", .file(bytes))
        let tunnels = try TunnelProxy(demanding: credentials.isEmpty ? nil : String(credentials.dropLast()))
        let fetchd = try await start("socks5://\(credentials)127.0.0.1:\(tunnels.port)")
        let job = try await outcome("http://host.invalid:\(origin.port)/file", fetchd)
        #expect(job["state"] == "succeeded", "\(job.written)")
        #expect(fetchd.downloaded("file") == bytes)
        #expect(tunnels.tunnels.map(\.target) == ["host.invalid:\(origin.port)"])
        #expect(tunnels.tunnels.map(\.credentials) == [credentials.isEmpty ? nil : "ada:\(Self.password)"])
        #expect(
            try await fetchd.api.session("fixture")["configuration"]["proxy"]
                == .string("socks5://127.0.0.1:\(tunnels.port)"))
        try await expectNoSecretShown(fetchd)
    }

    @Test func failsWithProxyCredentialsRequiredWhenSOCKSProxyRefusesThem() async throws {
        let tunnels = try TunnelProxy(demanding: "ada:another")
        let proxyURL = "socks5://ada:\(Self.password)@127.0.0.1:\(tunnels.port)"
        let fetchd = try await start(proxyURL)
        let job = try await outcome("http://host.invalid/file", fetchd)
        #expect(job["failure"]["code"] == "proxy_credentials_required")
        let name = URLRule.withoutCredentials(proxyURL)
        #expect(job["failure"]["message"].string?.contains("The proxy \(name)") == true, "\(job["failure"].written)")
        try await expectNoSecretShown(fetchd)
    }

    // MARK: Proxies that fail

    @Test(arguments: ["http", "socks5"]) func retriesUnreachableProxyAndNamesItInFailure(_ scheme: String) async throws
    {
        let proxy = try Origin()
        proxy.stop()
        let fetchd = try await start("\(scheme)://ada:\(Self.password)@127.0.0.1:\(proxy.port)")
        let job = try await outcome("http://host.invalid/file", fetchd)
        #expect(job["failure"]["code"] == "connect_failed")
        #expect(job["failure"]["attempts"] == 2)
        // The message names the proxy.
        let message = job["failure"]["message"].string ?? ""
        #expect(message.contains("the proxy 127.0.0.1:\(proxy.port)"), "\(message)")
        try await expectNoSecretShown(fetchd)
    }

    @Test func usesProxyOnceItIsReachableAgain() async throws {
        let former = try Origin()
        former.stop()
        let fetchd = try await start(
            "http://127.0.0.1:\(former.port)",
            ["retry": ["base_seconds": 0.02, "max_seconds": 0.1, "max_attempts": 1000]])
        let id = try await fetchd.api.submit(["url": "http://host.invalid/file", "session": "fixture"])
        try await fetchd.api.waitForJob(id, toBe: "tried") { ($0["attempts"].integer ?? 0) > 1 }
        let proxy = try Origin(port: former.port)
        proxy.serve("/file", .file(bytes))
        try await fetchd.api.waitForJob(id, .succeeded)
        #expect(fetchd.downloaded("file") == bytes)
    }

    // MARK: The environment

    @Test func ignoresProxiesOfEnvironment() async throws {
        let (wrong, origin) = (try Origin(), try Origin())
        origin.serve("/file", .file(bytes))
        let proxy = "http://127.0.0.1:\(wrong.port)"
        let names = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
        let environment = Dictionary(uniqueKeysWithValues: names.map { ($0, proxy) })
        let fetchd = try await FetchdProcess.start(.init(environment: environment))
        let id = try await fetchd.api.submit(["url": .string(origin.url("/file"))])
        try await fetchd.api.waitForJob(id, .succeeded)
        #expect(wrong.connectionCount == 0)
    }

    @Test func ignoresNoProxyOfEnvironment() async throws {
        let proxy = try Origin()
        proxy.serve("/file", .file(bytes))
        let fetchd = try await start(
            "http://127.0.0.1:\(proxy.port)", environment: ["NO_PROXY": "*", "no_proxy": "127.0.0.1,host.invalid,*"])
        for url in ["http://host.invalid/file", "http://127.0.0.1:9/file"] {
            #expect(try await outcome(url, fetchd)["state"] == "succeeded")
        }
        #expect(proxy.requests.count == 2)
    }

    // MARK: Validation

    @Test func refusesInvalidProxies() async throws {
        let scene = try await Scene()
        let proxies: [JSON] = [
            5, "", "127.0.0.1:3128", "ftp://host:21", "https://host:443", "http://host", "http://:3128",
            "http://host:0", "http://host:99999", "http://host:3128/path", "http://host:3128?x=1", "socks4://host:1080",
            // Basic authentication cannot send a colon in a name, and RFC 1929 cannot send an empty name or password.
            "http://a%3Ab:s3cr3t-w0rd@host:3128", "socks5://ada@host:1080", "socks5://ada:@host:1080",
            "http://a%0Ab:s3cr3t-w0rd@host:3128", "http://:s3cr3t-w0rd@host:3128",
        ]
        for proxy in proxies {
            let answer = try await scene.api.put("/v1/sessions/fixture", ["proxy": proxy])
            #expect(answer.status == 422, "\(proxy.written)")
            #expect(answer.problem == .init(kind: "invalid-value", pointer: "/proxy"), "\(proxy.written): \(answer)")
            #expect(!answer.text.contains(Self.password))
        }
        #expect(try await scene.api.get("/v1/sessions/fixture").status == 404)
    }
}
