import Glibc
import Testing

@testable import HTTPServer

/// The networks whose connections are counted together.
@Suite struct ClientNetworkTests {
    private func network(_ literal: String) throws -> ClientNetwork {
        var address = try SocketAddress(literal: literal, port: 1)
        return try #require(address.withSockaddr { ClientNetwork(UnsafePointer($0)) })
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("::ffff:192.0.2.1", "192.0.2.1", true),
        ("2001:db8:1:2:3::4", "2001:db8:1:2:ffff::", true), ("2001:db8:1:2::", "2001:db8:1:3::", false),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false), ("::2", "::3", true),
    ])
    func combinesAddressesOfOneClient(_ one: String, _ other: String, _ isSame: Bool) throws {
        #expect(try (network(one) == network(other)) == isSame)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.0.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("128.0.0.1", false),
        ("::2", false), ("::", false), ("10.0.0.1", false),
    ])
    func knowsLoopback(_ address: String, _ isLoopback: Bool) throws {
        #expect(try network(address).isLoopback == isLoopback)
    }

    @Test func countsOnlyConnectionsOfTheNetwork() throws {
        let set = ConnectionSet()
        let (near, far) = (try network("192.0.2.1"), try network("192.0.2.2"))
        let connections = [near, near, far].map { Connection(socket: -1, remoteAddress: "", network: $0) }
        for connection in connections { _ = set.insert(connection) }
        #expect(set.count(of: near) == 2 && set.count(of: far) == 1)
        set.remove(connections[0])
        set.remove(connections[0])
        set.remove(connections[2])
        #expect(set.count(of: near) == 1 && set.count(of: far) == 0)
    }
}
