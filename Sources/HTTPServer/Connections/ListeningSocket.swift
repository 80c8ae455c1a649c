import Descriptors
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
    private static let backlog: Int32 = 4_096

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
        guard Glibc.listen(descriptor, backlog) == 0 else {
            throw failure(of: "listen", address: literal, port: port)
        }
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
