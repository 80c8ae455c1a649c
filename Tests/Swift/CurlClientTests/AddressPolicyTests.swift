import CurlClient
import Formats
import HTTPSemantics
import TestKit
import Testing

/// The client checks the address of the socket for every request.
@Suite struct AddressPolicyTests {
    let origin: Origin
    let loopback = IPAddress("127.0.0.1")

    init() throws {
        origin = try Origin()
        origin.serve("/file", .file([1]))
    }

    private func client(_ admits: @escaping @Sendable (IPAddress) -> Bool) throws -> CurlClient {
        var options = CurlClient.Options()
        options.admitsAddress = admits
        return try CurlClient(options: options)
    }

    @Test(arguments: ["127.0.0.1", "0x7f.1", "2130706433", "localhost", "[::ffff:127.0.0.1]"])
    func refusesAddressBeforeConnecting(host: String) async throws {
        let client = try client { !($0.isIPv4 && $0.bytes[0] == 127) && $0 != IPAddress("::1") }
        let (result, _) = try await client.run("http://\(host):\(origin.port)/file")
        guard case .addressRefused(let address) = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(address == loopback || address == IPAddress("::1"))
        #expect(origin.connectionCount == 0)
    }

    @Test func callsAdmitsAddressWithTheSocketAddress() async throws {
        let asked = Monitor<[IPAddress]>([])
        let client = try client { address in
            asked.withLock { $0.append(address) }
            return true
        }
        let (result, _) = try await client.run(origin.url("/file"))
        #expect(result.outcome == .completed)
        #expect(Set(asked.current) == [try #require(loopback)])
    }

    /// Refused addresses are skipped, in any order.
    @Test(arguments: [["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "127.0.0.2"], ["::1", "127.0.0.2", "127.0.0.1"]])
    func connectsIfOneAddressIsAdmitted(addresses: [String]) async throws {
        var options = CurlClient.Options()
        options.findsAddresses = { _ in addresses.compactMap { IPAddress($0) } }
        options.admitsAddress = { [loopback] in $0 == loopback }
        let client = try CurlClient(options: options)
        let (result, _) = try await client.run("http://files.test:\(origin.port)/file")
        #expect(result.outcome == .completed)
        #expect(result.metrics.remoteAddress == "127.0.0.1")
    }

    @Test func failsIfNoAddressIsAdmitted() async throws {
        var options = CurlClient.Options()
        options.findsAddresses = { _ in ["::1", "127.0.0.2", "127.0.0.1"].compactMap { IPAddress($0) } }
        options.admitsAddress = { _ in false }
        let (result, _) = try await CurlClient(options: options).run("http://files.test:\(origin.port)/file")
        guard case .addressRefused = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(origin.connectionCount == 0)
    }

    /// The address of a proxy is checked, because sockets are opened to it.
    @Test(arguments: [Proxy.Scheme.http, .socks5])
    func checksTheAddressOfTheProxy(scheme: Proxy.Scheme) async throws {
        var request = TransferRequest(url: "http://192.0.2.1/file")
        request.proxy = .init(scheme: scheme, host: "127.0.0.1", port: Int(origin.port))
        let (result, _) = try await client { $0 != IPAddress("127.0.0.1") }.run(request)
        #expect(result.error == .proxyAddressRefused(loopback))
        #expect(origin.connectionCount == 0)
    }

    /// A connection of such a request is not reused by others.
    @Test func admitsAnyAddressSkipsTheCheck() async throws {
        let client = try client { _ in false }
        var own = TransferRequest(url: origin.url("/file"))
        own.admitsAnyAddress = true
        let (first, _) = try await client.run(own)
        #expect(first.outcome == .completed)
        let (second, _) = try await client.run(origin.url("/file"))
        #expect(second.error == .addressRefused(loopback))
        #expect(origin.requests.count == 1)
    }

    @Test func refusesAddressOfAReusedConnection() async throws {
        let admits = Monitor(true)
        let client = try client { _ in admits.current }
        let (first, _) = try await client.run(origin.url("/file"))
        #expect(first.outcome == .completed)
        admits.withLock { $0 = false }
        let (second, _) = try await client.run(origin.url("/file"))
        #expect(second.error == .addressRefused(loopback))
        #expect(origin.requests.count == 1)
    }
}
