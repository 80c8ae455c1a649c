import Formats
import HTTPSemantics
import TestKit
import Testing

@testable import CurlClient

/// Rules for the hosts and ports of URLs.
@Suite struct HostPolicyTests {
    private func patterns(_ texts: [String]) throws -> [HostPattern] {
        try texts.map { try #require(HostPattern($0), "\($0)") }
    }

    @Test(arguments: [
        ("files.example.com", "files.example.com", true), ("files.example.com", "FILES.Example.COM", true),
        ("Files.Example.com.", "files.example.com", true), ("files.example.com", "files.example.com.", true),
        ("files.example.com", "files.example.com..", true), ("files.example.com", "a.files.example.com", false),
        ("files.example.com", "example.com", false), ("files.example.com", "xfiles.example.com", false),
        ("files.example.com", "files.example.com.evil.test", false), ("*.example.com", "files.example.com", true),
        ("*.example.com", "a.b.example.com.", true), ("*.example.com", "example.com", false),
        ("*.example.com", "badexample.com", false), ("*.example.com", "example.com.evil.test", false),
        ("*.EXAMPLE.com", "A.example.COM", true), ("my_host", "my_host", true),
        ("xn--bcher-kva.example", "XN--bcher-kva.example", true),
        ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.1.", true), ("127.0.0.1", "0x7f.1", true),
        ("127.0.0.1", "2130706433", true), ("127.0.0.1", "0177.0.0.1", true), ("127.0.0.1", "[::ffff:127.0.0.1]", true),
        ("127.0.0.1", "[::ffff:7f00:1]", true), ("127.0.0.1", "127.0.0.2", false), ("127.0.0.1", "localhost", false),
        ("::1", "[::1]", true), ("[::1]", "[0:0:0:0:0:0:0:1]", true), ("::1", "[::1%25lo]", true),
        ("fe80::1", "[FE80::1%eth0]", true), ("::1", "[::2]", false), ("::ffff:10.0.0.1", "10.0.0.1", true),
        ("*.0.0.1.example", "127.0.0.1", false),
    ])
    func patternMatchesHost(pattern: String, host: String, matches: Bool) throws {
        let patterns = try patterns([pattern])
        #expect(HostPolicy(allowing: patterns).admits(RequestedHost(host), port: 80) == matches)
        #expect(HostPolicy(denying: patterns).admits(RequestedHost(host), port: 80) != matches)
    }

    @Test(arguments: [
        "", "*", "*.", ".", "*.*.example.com", "a.*.example.com", "a*.example.com", ".example.com", "a..example.com",
        "http://example.com", "example.com:80", "example.com/", "a b", "b\u{FC}cher.example", "*.127.0.0.1", "1",
        "127.1",
        "0x7f.1", "10.0.0.0/8", "[::1", "::1]:80", "user@example.com",
    ])
    func refusesInvalidPattern(text: String) {
        #expect(HostPattern(text) == nil)
    }

    @Test func deniedHostsTakePrecedence() throws {
        let policy = HostPolicy(
            allowing: try patterns(["*.example.com", "10.0.0.1"]),
            denying: try patterns(["bad.example.com", "10.0.0.1"]))
        #expect(policy.admits(RequestedHost("good.example.com"), port: 80))
        #expect(!policy.admits(RequestedHost("bad.example.com"), port: 80))
        #expect(!policy.admits(RequestedHost("10.0.0.1"), port: 80))
        #expect(!policy.admits(RequestedHost("other.example"), port: 80))
    }

    @Test func onlyStatedPortsAreAdmitted() {
        let policy = HostPolicy(ports: [443...443, 8000...8002])
        for port in [443, 8000, 8001, 8002] { #expect(policy.admits(RequestedHost("h"), port: port), "\(port)") }
        for port in [1, 80, 442, 444, 7999, 8003, 65535] {
            #expect(!policy.admits(RequestedHost("h"), port: port), "\(port)")
        }
        #expect(HostPolicy().admits(RequestedHost("h"), port: 1))
    }

    // MARK: Requests

    private func client(_ hosts: HostPolicy) throws -> (client: CurlClient, lookups: Monitor<[String]>) {
        let lookups = Monitor<[String]>([])
        var options = CurlClient.Options()
        options.hosts = { hosts }
        options.findsAddresses = { name in
            lookups.withLock { $0.append(name) }
            return [IPAddress("127.0.0.1")].compactMap(\.self)
        }
        return (try CurlClient(options: options), lookups)
    }

    /// The name is not even looked up.
    @Test func refusesRequestBeforeTheLookup() async throws {
        let origin = try Origin()
        origin.serve("/file", .file([1]))
        let (client, lookups) = try client(HostPolicy(denying: patterns(["*.bad.test"])))
        let (refused, _) = try await client.run("http://a.BAD.test.:\(origin.port)/file")
        #expect(refused.error == .hostRefused(host: "a.BAD.test.", port: Int(origin.port)))
        #expect(lookups.current.isEmpty)
        let (taken, _) = try await client.run("http://good.test:\(origin.port)/file")
        #expect(taken.outcome == .completed)
    }

    @Test func judgesTheDefaultPortOfTheScheme() async throws {
        let (client, lookups) = try client(HostPolicy(ports: [8443...8443]))
        for (url, port) in [("http://h.test/", 80), ("https://h.test/", 443), ("http://h.test:81/", 81)] {
            #expect(try await client.run(url).0.error == .hostRefused(host: "h.test", port: port))
        }
        #expect(lookups.current.isEmpty)
    }

    /// The proxy resolves names, so it must not be asked for a refused one. The rules are not for the proxy itself.
    @Test(arguments: [Proxy.Scheme.http, .socks5])
    func refusesHostBeforeTheProxyIsAsked(scheme: Proxy.Scheme) async throws {
        let canary = try Canary()
        let (client, lookups) = try client(HostPolicy(allowing: patterns(["good.test"]), ports: [80...80]))
        let proxy = Proxy(scheme: scheme, host: "proxy.test", port: Int(canary.port))
        let (refused, _) = try await client.run(TransferRequest(url: "http://bad.test/", proxy: proxy))
        #expect(refused.error == .hostRefused(host: "bad.test", port: 80))
        #expect(lookups.current.isEmpty)
        #expect(try canary.connections() == 0)
        let (asked, _) = try await client.run(TransferRequest(url: "http://good.test/", proxy: proxy))
        #expect(asked.outcome != .completed)
        #expect(lookups.current == ["proxy.test"])
        #expect(try canary.connections() == 1)
    }
}
