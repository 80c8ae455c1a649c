import Base
import Glibc

/// A bound, listening TCP socket. The library could create one, but would not report why it failed, for example that
/// the port is in use.
struct ListeningSocket {
    let descriptor: Descriptor
    let port: UInt16

    init(address literal: String, port: UInt16) throws(HTTPServerError) {
        var address = try SocketAddress(literal: literal, port: port)
        let result = socket(address.family, Int32(SOCK_STREAM.rawValue) | Self.flags, 0)
        guard let descriptor = Descriptor(result: result) else { throw .systemCallFailed("socket", errno: errno) }
        try Self.listen(descriptor.number, at: &address, named: literal)
        self.port = try SocketAddress(boundTo: descriptor.number).port
        self.descriptor = descriptor
    }

    private static let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)

    /// The maximum number of connections that wait to be accepted. The kernel reduces it to its own maximum.
    static let backlog: Int32 = 4_096

    private static func listen(
        _ descriptor: Int32, at address: inout SocketAddress, named literal: String
    ) throws(HTTPServerError) {
        // Without this option, a restart would fail until the last connections of the previous process have timed out.
        set(descriptor, level: SOL_SOCKET, option: SO_REUSEADDR, to: 1)
        if address.family == AF_INET6 {
            set(descriptor, level: Int32(IPPROTO_IPV6), option: IPV6_V6ONLY, to: literal == "::" ? 0 : 1)
        }
        let (port, length) = (address.port, address.length)
        guard address.withSockaddr({ bind(descriptor, $0, length) }) == 0 else {
            throw failure(of: "bind", address: literal, port: port)
        }
        guard Glibc.listen(descriptor, backlog) == 0 else { throw failure(of: "listen", address: literal, port: port) }
    }

    private static func set(_ descriptor: Int32, level: Int32, option: Int32, to value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func failure(of call: String, address: String, port: UInt16) -> HTTPServerError {
        switch errno {
        case EADDRINUSE: .addressInUse(address: address, port: port)
        case EADDRNOTAVAIL: .addressUnavailable(address: address)
        case EACCES: .permissionDenied(address: address, port: port)
        default: .systemCallFailed(call, errno: errno)
        }
    }
}

/// An IPv4 or IPv6 address with a port. It is created only from literals, because a name could resolve to different addresses.
struct SocketAddress {
    private var storage = sockaddr_storage()

    init(literal: String, port: UInt16) throws(HTTPServerError) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, literal, &v4) == 1 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr = v4
            store(address)
        } else if inet_pton(AF_INET6, literal, &v6) == 1 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = v6
            store(address)
        } else {
            throw .addressInvalid(literal)
        }
    }

    init(boundTo descriptor: Int32) throws(HTTPServerError) {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withSockaddr { getsockname(descriptor, $0, &length) }
        guard result == 0 else { throw .systemCallFailed("getsockname", errno: errno) }
    }

    var family: Int32 { Int32(storage.ss_family) }

    var length: socklen_t {
        socklen_t(family == AF_INET6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
    }

    var port: UInt16 {
        withUnsafeBytes(of: storage) { bytes in
            // sin_port and sin6_port have the same offset.
            bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self).bigEndian
        }
    }

    mutating func withSockaddr<Result>(_ body: (UnsafeMutablePointer<sockaddr>) -> Result) -> Result {
        withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }

    private mutating func store<Address>(_ address: Address) {
        withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: Address.self) }
    }
}
