import Glibc

/// A TCP socket for test doubles: blocking, and able to treat a connection badly in every way.
final class LoopbackSocket: Sendable {
    struct Failure: Error {
        let call: String
        let errno: Int32
    }

    /// `POLLRDHUP`, which the headers keep for programs that define `_GNU_SOURCE`.
    private static let peerClosed: Int16 = 0x2000

    private let descriptor: Int32

    init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Listens on a port that the system chooses, or on that of a listener that was shut down.
    static func listening(
        at address: Loopback = .v4, on port: UInt16? = nil, backlog: Int32 = 1024
    ) throws -> LoopbackSocket {
        // A port that was bound by its number stays bound until its socket is closed: no other process gets it between
        // a listener that was shut down and the next one.
        let free = try port == nil ? bound(to: 0, at: address) : nil
        return try withExtendedLifetime(free) {
            let socket = try bound(to: port ?? free?.port ?? 0, at: address)
            guard listen(socket.descriptor, backlog) == 0 else { throw Failure(call: "listen", errno: errno) }
            return socket
        }
    }

    /// Bound, and not listening.
    static func bound(to port: UInt16 = 0, at address: Loopback = .v4) throws -> LoopbackSocket {
        let socket = try unconnected(address)
        var on: Int32 = 1
        // Sockets can share a port in this way while none of them listens.
        setsockopt(socket.descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        let isBound = address.withSocketAddress(port: port) { bind(socket.descriptor, $0, $1) } == 0
        guard isBound else { throw Failure(call: "bind", errno: errno) }
        return socket
    }

    /// Listens at any address. An IPv6 socket also listens at the addresses of IPv4.
    func startListening(at address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Bool {
        var off: Int32 = 0
        setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &off, socklen_t(MemoryLayout<Int32>.size))
        return bind(descriptor, address, length) == 0 && listen(descriptor, 1024) == 0
    }

    /// Starts to connect to a port of 127.0.0.1, without waiting.
    static func connecting(to port: UInt16) throws -> LoopbackSocket {
        let socket = try unconnected()
        _ = fcntl(socket.descriptor, F_SETFL, O_NONBLOCK)
        _ = Loopback.v4.withSocketAddress(port: port) { connect(socket.descriptor, $0, $1) }
        return socket
    }

    /// Connected to a port of 127.0.0.1.
    static func connected(to port: UInt16) throws -> LoopbackSocket {
        let socket = try unconnected()
        let isConnected = Loopback.v4.withSocketAddress(port: port) { connect(socket.descriptor, $0, $1) } == 0
        guard isConnected else { throw Failure(call: "connect", errno: errno) }
        return socket
    }

    private static func unconnected(_ address: Loopback = .v4) throws -> LoopbackSocket {
        let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", errno: errno) }
        return LoopbackSocket(owning: descriptor)
    }

    var port: UInt16 {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        _ = withSocketAddress(&address) { pointer, _ in getsockname(descriptor, pointer, &length) }
        // It has the same place in the addresses of both families.
        return UInt16(bigEndian: address.sin6_port)
    }

    /// nil once the socket is shut down.
    func accept() -> LoopbackSocket? {
        while true {
            let accepted = Glibc.accept(descriptor, nil, nil)
            if accepted >= 0 {
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                var on: Int32 = 1
                setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
                return LoopbackSocket(owning: accepted)
            }
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }

    /// The next received bytes; empty at the end of the connection.
    func receive() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
    }

    /// False if the peer has closed the connection.
    func send(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    /// Shuts down both directions and wakes threads that are blocked on the socket; the descriptor is closed with the
    /// last reference.
    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Makes the close a reset.
    func abort() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    /// Blocks until `other` is readable or hung up (true), or this connection ends (false); without `other`, until it
    /// ends or the time is over.
    @discardableResult
    func wait(for other: Int32 = -1, atMost duration: Duration? = nil) -> Bool {
        var watched = [
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Self.peerClosed, revents: 0),
        ]
        let limit = duration.map { max(0, Int32(clamping: Int64($0 / .milliseconds(1)))) } ?? -1
        while poll(&watched, nfds_t(watched.count), limit) < 0, errno == EINTR {}
        return watched[1].revents == 0
    }
}
