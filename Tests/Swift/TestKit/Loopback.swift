import Glibc

/// The IPv4 and IPv6 loopback addresses.
public enum Loopback: Sendable {
    case v4, v6

    /// The host as written in a URL.
    public var host: String {
        switch self {
        case .v4: "127.0.0.1"
        case .v6: "[::1]"
        }
    }

    /// Whether this machine has the address: containers often lack the IPv6 one.
    public var isAvailable: Bool { (try? LoopbackSocket.bound(at: self)) != nil }

    var family: Int32 {
        switch self {
        case .v4: AF_INET
        case .v6: AF_INET6
        }
    }

    func withSocketAddress<Result>(
        port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        switch self {
        case .v4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            address.sin_port = port.bigEndian
            return TestKit.withSocketAddress(&address, body)
        case .v6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_addr = in6addr_loopback
            address.sin6_port = port.bigEndian
            return TestKit.withSocketAddress(&address, body)
        }
    }
}

/// Passes any address in the form that system calls take.
func withSocketAddress<Address, Result>(
    _ address: inout Address, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<Address>.size))
        }
    }
}
