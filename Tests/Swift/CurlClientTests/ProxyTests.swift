import CurlClient
import Formats
import Foundation
import HTTPSemantics
import TestKit
import Testing

/// Transfers through proxies.
@Suite struct ProxyTests {
    let client: CurlClient
    /// Serves as a host and as an HTTP proxy for plain requests.
    let origin: Origin

    init() throws {
        client = try CurlClient()
        origin = try Origin()
        origin.serve("/file", .file([1, 2, 3]))
    }

    private func proxy(
        _ scheme: Proxy.Scheme, _ port: UInt16, _ username: String? = nil, _ password: String? = nil
    ) -> Proxy {
        Proxy(
            scheme: scheme, host: "127.0.0.1", port: Int(port), username: username, password: password)
    }

    private func run(_ url: String, _ proxy: Proxy) async throws -> (TransferResult, Recorder) {
        try await client.run(TransferRequest(url: url, proxy: proxy))
    }

    // MARK: HTTP

    @Test func sendsPlainRequestsToTheProxy() async throws {
        let (result, recorder) = try await run("http://host.invalid:81/file", proxy(.http, origin.port))
        #expect(result.outcome == .completed)
        #expect(recorder.body == [1, 2, 3])
        #expect(recorder.head?.remoteAddress == "127.0.0.1")
        let request = try #require(origin.requests.first)
        #expect(request.target == "http://host.invalid:81/file")
        #expect(request.header("Host") == "host.invalid:81")
        #expect(request.header("Proxy-Authorization") == nil)
    }

    @Test func usesTheProxyForLoopbackHosts() async throws {
        let other = try Origin()
        let (_, recorder) = try await run(other.url("/file"), proxy(.http, origin.port))
        #expect(recorder.body == [1, 2, 3])
        #expect(other.connectionCount == 0)
    }

    @Test func sendsSeparateCredentialsToProxyAndHost() async throws {
        origin.serve("/file", .file([1, 2, 3]), .demandingProxyBasic("ada", "p"), .demandingBasic("bob", "q"))
        let (_, recorder) = try await client.run(
            TransferRequest(
                url: "http://host.invalid/file", headers: [("Proxy-Authorization", "mine")],
                credentials: .basic(username: "bob", password: "q"), proxy: proxy(.http, origin.port, "ada", "p")))
        #expect(recorder.state.current.heads.map(\.status) == [200])
    }

    @Test(arguments: [nil, "eve"])
    func status407OfTheProxyIsDelivered(username: String?) async throws {
        origin.serve("/file", .file([1, 2, 3]), .demandingProxyBasic("ada", "p"))
        let (result, recorder) = try await run(
            "http://host.invalid/file", proxy(.http, origin.port, username, username))
        #expect(result.outcome == .completed)
        #expect(recorder.state.current.heads.map(\.status) == [407])
        #expect(recorder.body == OriginBehaviour.refusalPage)
    }

    @Test func reusedProxyConnectionSendsEachTransfersOwnCredentials() async throws {
        for (username, password) in [("ada", "a"), (nil, nil), ("bob", "b"), ("bob", nil)] {
            _ = try await run("http://host.invalid/file", proxy(.http, origin.port, username, password))
        }
        #expect(
            origin.requests.map { $0.header("Proxy-Authorization") }
                == ["Basic YWRhOmE=", nil, "Basic Ym9iOmI=", "Basic Ym9iOg=="])
    }

    /// Whether transfers with other credentials may reuse it depends on libcurl: with the patch of Debian for
    /// CVE-2026-3784 they may not.
    @Test func reusesConnectionsWithEqualCredentials() async throws {
        for _ in 0..<3 { _ = try await run("http://host.invalid/file", proxy(.http, origin.port, "ada", "a")) }
        #expect(
            origin.requests.map { $0.header("Proxy-Authorization") } == Array(repeating: "Basic YWRhOmE=", count: 3))
        #expect(origin.connectionCount == 1)
    }

    // MARK: Tunnels

    @Test(.enabled(if: TLSOrigin.isAvailable)) func sendsHTTPSThroughATunnel() async throws {
        let (server, tunnels) = (try await TLSOrigin(), try TunnelProxy(demanding: "ada:p"))
        let request = TransferRequest(
            url: server.url("/"), headers: [("X-Own", "1")], userAgent: "fetchd/1", credentials: .bearer(token: "t"),
            proxy: proxy(.http, tunnels.port, "ada", "p"), tls: .init(caFile: server.certificatePath))
        let (result, recorder) = try await client.run(request)
        #expect(result.outcome == .completed)
        // The response of the proxy to CONNECT is not the response of the host.
        #expect(recorder.state.current.heads.map(\.status) == [200])
        #expect(recorder.head?.value(of: "X-Proxy") == nil)
        let tunnel = try #require(tunnels.tunnels.first)
        #expect(tunnel.target == "localhost:\(server.port)")
        #expect(tunnel.credentials == "Basic YWRhOnA=")
        // Headers for the host are not sent to the proxy, and vice versa.
        #expect(!tunnel.fields.contains { $0.hasPrefix("Authorization") || $0.hasPrefix("X-Own") })
        let received = try #require(server.origin.requests.first)
        #expect(received.header("Authorization") == "Bearer t")
        #expect(received.header("Proxy-Authorization") == nil)
    }

    @Test(.enabled(if: TLSOrigin.isAvailable), arguments: [HeadDecision.accept, .reject])
    func status407OfATunnelIsDelivered(verdict: HeadDecision) async throws {
        let tunnels = try TunnelProxy(demanding: "ada:p")
        for username in [nil, "eve"] {
            let (result, recorder) = try await client.run(
                TransferRequest(url: "https://host.invalid/", proxy: proxy(.http, tunnels.port, username, username)),
                Recorder { _ in verdict })
            #expect(result.outcome == (verdict == .accept ? .completed : .rejected))
            #expect(result.head?.status == 407)
            #expect(recorder.state.current.heads.map(\.status) == [407])
            #expect(recorder.head?.value(of: "Proxy-Authenticate") == #"Basic realm="proxy""#)
            #expect(recorder.head?.remoteAddress == "127.0.0.1")
            #expect(result.metrics.remoteAddress == "127.0.0.1")
            #expect(recorder.body.isEmpty)
        }
        #expect(tunnels.tunnels.count == 2)
    }

    @Test func refusedTunnelIsConnectFailed() async throws {
        for status in [400, 403, 502] {
            let tunnels = try TunnelProxy(refusing: .status(status))
            let (result, recorder) = try await run("https://host.invalid/", proxy(.http, tunnels.port, "ada", "s3cr3t"))
            #expect(
                result.error
                    == .connectFailed("the proxy 127.0.0.1:\(tunnels.port) answered CONNECT with status \(status)"))
            #expect(recorder.head == nil)
        }
    }

    @Test(.enabled(if: TLSOrigin.isAvailable)) func doesNotReuseATunnelOfOtherCredentials() async throws {
        let (server, tunnels) = (try await TLSOrigin(), try TunnelProxy())
        for (username, password) in [("ada", "a"), ("bob", "b"), (nil, nil), (nil, nil), ("ada", "a"), ("ada", "c")] {
            _ = try await client.run(
                TransferRequest(
                    url: server.url("/"), proxy: proxy(.http, tunnels.port, username, password),
                    tls: .init(caFile: server.certificatePath)))
        }
        let connections = server.origin.requests.map(\.connection)
        #expect(connections.count == 6)
        #expect(tunnels.tunnels.prefix(3).map(\.credentials) == ["Basic YWRhOmE=", "Basic Ym9iOmI=", nil])
        // A tunnel with credentials carries one request.
        for own in [0, 1] { #expect(connections.count { $0 == connections[own] } == 1) }
        #expect(connections[4] != connections[5])
        // A tunnel without credentials is reused by transfers without credentials. Whether others may reuse it depends
        // on libcurl.
        #expect(connections[2] == connections[3])
    }

    @Test(.enabled(if: TLSOrigin.isAvailable)) func digestOpensAnotherTunnelIfTheFirstIsClosed() async throws {
        let (server, tunnels) = (try await TLSOrigin(), try TunnelProxy())
        server.origin.serve(
            "/file", .file([1, 2]),
            .demandingDigest(OriginDigest("ada", "p")) { $0.headers.append(("Connection", "close")) })
        let (result, recorder) = try await client.run(
            TransferRequest(
                url: server.url("/file"), credentials: .digest(username: "ada", password: "p"),
                proxy: proxy(.http, tunnels.port), tls: .init(caFile: server.certificatePath)))
        #expect(result.outcome == .completed)
        #expect(recorder.state.current.heads.map(\.status) == [200])
        #expect(recorder.body == [1, 2])
        #expect(tunnels.tunnels.count == 2)
    }

    // MARK: SOCKS

    @Test func socksProxyResolvesTheName() async throws {
        let tunnels = try TunnelProxy()
        let (result, recorder) = try await run("http://host.invalid:\(origin.port)/file", proxy(.socks5, tunnels.port))
        #expect(result.outcome == .completed)
        #expect(recorder.body == [1, 2, 3])
        #expect(tunnels.tunnels.map(\.target) == ["host.invalid:\(origin.port)"])
        #expect(origin.requests.first?.target == "/file")
    }

    @Test(.enabled(if: TLSOrigin.isAvailable)) func sendsHTTPSThroughSOCKS() async throws {
        let (server, tunnels) = (try await TLSOrigin(), try TunnelProxy())
        let (result, recorder) = try await client.run(
            TransferRequest(
                url: server.url("/"), proxy: proxy(.socks5, tunnels.port),
                tls: .init(caFile: server.certificatePath)))
        #expect(result.outcome == .completed)
        #expect(recorder.head?.status == 200)
    }

    @Test func doesNotShareSOCKSConnectionsBetweenCredentials() async throws {
        let tunnels = try TunnelProxy()
        for (username, password) in [("ada", "a"), ("bob", "b"), (nil, nil), ("ada", "a")] {
            let (result, _) = try await run(
                "http://host.invalid:\(origin.port)/file", proxy(.socks5, tunnels.port, username, password))
            #expect(result.outcome == .completed)
        }
        #expect(tunnels.tunnels.map(\.credentials) == ["ada:a", "bob:b", nil])
    }

    @Test func refusedSOCKSCredentialsAreProxyAuthenticationRequired() async throws {
        let tunnels = try TunnelProxy(demanding: "ada:p")
        for username in [nil, "eve"] {
            let (result, _) = try await run("http://host.invalid/", proxy(.socks5, tunnels.port, username, username))
            #expect(result.error == .proxyAuthenticationRequired(proxy: "socks5://127.0.0.1:\(tunnels.port)"))
        }
        #expect(tunnels.tunnels.isEmpty)
    }

    @Test func failedSOCKSConnectIsConnectFailed() async throws {
        let tunnels = try TunnelProxy(refusing: .reply(5))
        let (result, _) = try await run("http://host.invalid/", proxy(.socks5, tunnels.port))
        expectProxyFailure(result, port: tunnels.port)
    }

    // MARK: Failures

    @Test(arguments: [Proxy.Scheme.http, .socks5], ["http://host.invalid/", "https://host.invalid/"])
    func unreachableProxyIsConnectFailed(scheme: Proxy.Scheme, url: String) async throws {
        let port = origin.port
        origin.stop()
        let (result, _) = try await run(url, proxy(scheme, port))
        expectProxyFailure(result, port: port)
    }

    @Test(arguments: [("https://host.invalid/", Proxy.Scheme.http), ("http://host.invalid/", .socks5)])
    func proxyThatClosesTheConnectionIsConnectFailed(url: String, scheme: Proxy.Scheme) async throws {
        let tunnels = try TunnelProxy(refusing: .hangingUp)
        let (result, _) = try await run(url, proxy(scheme, tunnels.port))
        expectProxyFailure(result, port: tunnels.port)
    }

    @Test func unknownProxyNameIsConnectFailed() async throws {
        let name = String(repeating: "a", count: 64) + ".invalid"
        let (result, _) = try await run(origin.url("/"), .init(scheme: .http, host: name, port: 80))
        #expect(result.error == .connectFailed("the name of the proxy \(name):80 could not be resolved"))
    }

    /// No socket of this process has the address in the URL, but the proxy would connect to it.
    @Test func checksTheAddressOfTheProxyAndThatInTheURL() async throws {
        let asked = Monitor<[IPAddress]>([])
        var options = CurlClient.Options()
        options.admitsAddress = { address in
            asked.withLock { $0.append(address) }
            return true
        }
        let client = try CurlClient(options: options)
        let tunnels = try TunnelProxy()
        let (result, _) = try await client.run(
            TransferRequest(url: "http://192.0.2.1:\(origin.port)/file", proxy: proxy(.socks5, tunnels.port)))
        #expect(result.outcome == .completed)
        #expect(Set(asked.current) == Set(["127.0.0.1", "192.0.2.1"].compactMap { IPAddress($0) }))
    }

    private func expectProxyFailure(
        _ result: TransferResult, port: UInt16, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .connectFailed(let why) = result.error else {
            Issue.record("\(result.outcome)", sourceLocation: sourceLocation)
            return
        }
        #expect(why.hasPrefix("the proxy 127.0.0.1:\(port)"), sourceLocation: sourceLocation)
    }

    // MARK: Values

    @Test(arguments: [
        ("proxy.example", "http://proxy.example:3128"), ("10.0.0.1", "http://10.0.0.1:3128"),
        ("::1", "http://[::1]:3128"), ("[::1]", "http://[::1]:3128"),
    ])
    func descriptionOmitsCredentials(host: String, expected: String) {
        let proxy = Proxy(scheme: .http, host: host, port: 3128, username: "ada", password: "p")
        #expect(proxy.description == expected)
    }

    @Test(arguments: [
        Proxy(scheme: .http, host: "", port: 1), .init(scheme: .http, host: "a b", port: 1),
        .init(scheme: .http, host: "user:s3cr3t@host", port: 1), .init(scheme: .http, host: "host/s3cr3t", port: 1),
        .init(scheme: .http, host: "host", port: 0), .init(scheme: .http, host: "host", port: 65536),
        .init(scheme: .http, host: "host", port: 1, password: "s3cr3t"),
        .init(scheme: .http, host: "host", port: 1, username: "s3cr3t:", password: "p"),
        .init(scheme: .http, host: "host", port: 1, username: "s3cr3t\r\n", password: "p"),
        .init(scheme: .socks5, host: "host", port: 1, username: "s3cr3t", password: ""),
        .init(scheme: .socks5, host: "host", port: 1, username: "s3cr3t", password: String(repeating: "p", count: 256)),
    ])
    func refusesInvalidProxiesBeforeSending(proxy: Proxy) async throws {
        let (result, _) = try await run(origin.url("/file"), proxy)
        guard case .protocolError(let why) = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(!why.contains("s3cr3t"))
        #expect(origin.connectionCount == 0)
    }
}

/// These tests run in separate processes. The environment belongs to the process, and changing it while other threads
/// read it is a race.
@Suite struct ProxyEnvironmentTests {
    @Test func ignoresProxyVariablesOfTheEnvironment() async {
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
                setenv(name, "http://127.0.0.1:9", 1)
            }
            let (origin, client) = (try Origin(), try CurlClient())
            origin.serve("/file", .file([1]))
            let response = try await client.exchange(TransferRequest(url: origin.url("/file")), bodyLimit: 9)
            exit(response.body == [1] ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func ignoresNoProxyOfTheEnvironment() async {
        await #expect(processExitsWith: .success) {
            setenv("NO_PROXY", "*", 1)
            setenv("no_proxy", "*", 1)
            let (origin, client) = (try Origin(), try CurlClient())
            origin.serve("/file", .file([1]))
            let proxy = Proxy(scheme: .http, host: "127.0.0.1", port: Int(origin.port))
            let request = TransferRequest(url: "http://127.0.0.1:9/file", proxy: proxy)
            let response = try await client.exchange(request, bodyLimit: 9)
            exit(response.body == [1] ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
}
