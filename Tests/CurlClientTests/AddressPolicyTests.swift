import CurlClient
import TestKit
import Testing

/// Addresses are judged as the socket has them, on every request.
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
    func refusedBeforeAConnectionIsMade(host: String) async throws {
        let client = try client { !($0.isIPv4 && $0.bytes[0] == 127) && $0 != IPAddress("::1") }
        let (result, _) = try await client.run("http://\(host):\(origin.port)/file")
        guard case .addressRefused(let address) = result.error else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(address == loopback || address == IPAddress("::1"))
        #expect(origin.connectionCount == 0)
    }

    @Test func admittedAddressIsAskedFor() async throws {
        let asked = Monitor<[IPAddress]>([])
        let client = try client { address in
            asked.withLock { $0.append(address) }
            return true
        }
        let (result, _) = try await client.run(origin.url("/file"))
        #expect(result.outcome == .completed)
        #expect(Set(asked.current) == [try #require(loopback)])
    }

    @Test func refusedOnAReusedConnection() async throws {
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
