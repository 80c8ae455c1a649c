import CurlClient
import Formats
import HTTPSemantics
import TestKit
import Testing

/// No way of naming an internal address leads to a connection: a listener at every address of this machine gets none.
@Suite struct CanaryTests {
    /// Admitted by the tests, as a proxy or as one of several addresses of a name.
    private static let admitted = "127.77.0.1"

    /// - Parameter answers: the addresses of each name.
    private func client(
        admitting networks: [String] = [], _ answers: @escaping @Sendable (String) -> [String] = { _ in [] }
    ) throws -> CurlClient {
        var options = CurlClient.Options()
        options.admitsAddress = AddressPolicy(allowing: networks.compactMap { Network($0) }).admits
        options.findsAddresses = { name in answers(name).compactMap { IPAddress($0) } }
        return try CurlClient(options: options)
    }

    private func expectRefusal(
        _ client: CurlClient, _ request: TransferRequest, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (result, _) = try await client.run(request)
        switch result.error {
        case .addressRefused, .proxyAddressRefused: break
        default: Issue.record("\(request.url): \(result.outcome)", sourceLocation: sourceLocation)
        }
    }

    /// A listener that nothing could reach would prove nothing.
    @Test func canaryCountsConnectionsOfEverySpelling() async throws {
        let canary = try Canary()
        var options = CurlClient.Options()
        options.admitsAddress = AddressPolicy(admitting: .allAddresses).admits
        let client = try CurlClient(options: options)
        let hosts = ["127.0.0.1", "0x7f.1", "2130706433", "127.77.0.1", "[::ffff:127.0.0.1]", "0.0.0.0"]
        for host in hosts { _ = try await client.run("http://\(host):\(canary.port)/") }
        #expect(try canary.connections() >= hosts.count)
    }

    @Test func refusesEverySpellingOfAnInternalAddress() async throws {
        let (canary, client) = (try Canary(), try client { name in [String(name.dropLast())] })
        #expect(InternalAddresses.all.count >= 80)
        for address in InternalAddresses.all {
            for host in AddressSpellings.all(of: address) {
                try await expectRefusal(client, TransferRequest(url: "http://\(host):\(canary.port)/"))
            }
        }
        #expect(try canary.connections() == 0)
    }

    @Test func refusesNamesWithAnInternalAddress() async throws {
        let canary = try Canary()
        for address in InternalAddresses.all {
            let client = try client { _ in [address] }
            for name in ["internal.test", "internal.test.", "a.b.internal.test"] {
                try await expectRefusal(client, TransferRequest(url: "http://\(name):\(canary.port)/"))
            }
        }
        #expect(try canary.connections() == 0)
    }

    /// The other address of the name does not answer, and the internal one is still not tried.
    @Test func neverTriesTheInternalAddressOfANameWithSeveral() async throws {
        let canary = try Canary(at: .loopback)
        for (index, internalAddress) in (["127.0.0.1"] + InternalAddresses.all).enumerated() {
            let answers = [[Self.admitted, internalAddress], [internalAddress, Self.admitted]][index % 2]
            let client = try client(admitting: [Self.admitted]) { _ in answers }
            let (result, _) = try await client.run("http://mixed.test:\(canary.port)/")
            guard case .connectFailed = result.error else {
                Issue.record("\(internalAddress): \(result.outcome)")
                continue
            }
        }
        #expect(try canary.connections() == 0)
    }

    /// A name server that answers with another address each time.
    @Test func refusesANameThatChangesToAnInternalAddress() async throws {
        let canary = try Canary(at: .loopback)
        for address in InternalAddresses.all {
            let lookups = Monitor(0)
            let answer: @Sendable (String) -> [String] = { _ in
                lookups.withLock { $0 += 1 }
                return lookups.current == 1 ? [Self.admitted] : [address]
            }
            // Each client has a cache of its own, as after its lifetime.
            let first = try client(admitting: [Self.admitted], answer)
            guard case .connectFailed = try await first.run("http://rebinding.test:\(canary.port)/").0.error else {
                Issue.record("the first address is admitted")
                continue
            }
            let second = try client(admitting: [Self.admitted], answer)
            try await expectRefusal(second, TransferRequest(url: "http://rebinding.test:\(canary.port)/"))
            #expect(lookups.current == 2)
        }
        #expect(try canary.connections() == 0)
    }

    /// A kept connection that another policy has opened is not used.
    @Test func refusesAKeptConnectionToAnInternalAddress() async throws {
        let origin = try Origin()
        origin.serve("/file", .file([1]))
        let client = try client { _ in ["127.0.0.1"] }
        for host in ["127.0.0.1", "127.1", "localhost", "internal.test"] {
            let url = "http://\(host):\(origin.port)/file"
            var trusted = TransferRequest(url: url)
            trusted.addressPolicy = AddressPolicy(admitting: .allAddresses)
            #expect(try await client.run(trusted).0.outcome == .completed)
            let before = (origin.connectionCount, origin.requests.count)
            try await expectRefusal(client, TransferRequest(url: url))
            #expect((origin.connectionCount, origin.requests.count) == before)
        }
    }

    // MARK: Proxies

    private static let schemes: [Proxy.Scheme] = [.http, .socks5]

    @Test(arguments: schemes) func refusesAProxyAtAnInternalAddress(
        scheme: Proxy.Scheme
    ) async throws {
        let canary = try Canary()
        for address in InternalAddresses.all {
            let client = try client { _ in [address] }
            for host in [address, "proxy.test"] {
                for url in ["http://files.example/", "https://files.example/"] {
                    let proxy = Proxy(scheme: scheme, host: host, port: Int(canary.port))
                    try await expectRefusal(client, TransferRequest(url: url, proxy: proxy))
                }
            }
        }
        #expect(try canary.connections() == 0)
    }

    /// The proxy would connect to the address. It is not even asked.
    @Test(arguments: schemes) func refusesAnInternalAddressThroughAProxy(
        scheme: Proxy.Scheme
    ) async throws {
        let (canary, client) = (try Canary(), try client(admitting: [Self.admitted]))
        let proxy = Proxy(scheme: scheme, host: Self.admitted, port: Int(canary.port))
        let hosts =
            InternalAddresses.all.flatMap(AddressSpellings.all) + ["localhost", "files.LOCALHOST", "localhost."]
        for host in hosts {
            try await expectRefusal(client, TransferRequest(url: "http://\(host):8080/", proxy: proxy))
        }
        #expect(try canary.connections() == 0)
    }

    /// A refusal is the same whether something listens or not.
    @Test func refusesAnAddressWithoutAListenerInTheSameWay() async throws {
        let (canary, client) = (try Canary(), try client { _ in ["127.0.0.1"] })
        let dead = try Canary().port
        for host in ["127.0.0.1", "internal.test"] {
            let (open, _) = try await client.run("http://\(host):\(canary.port)/")
            let (closed, _) = try await client.run("http://\(host):\(dead)/")
            #expect(open.error == closed.error)
            #expect(open.error == .addressRefused(IPAddress("127.0.0.1")))
        }
        #expect(try canary.connections() == 0)
    }
}
