import Glibc

/// The sockets of libcurl by connection, so that a connection can be checked before it is reused.
///
/// libcurl 7.88.1 takes any bytes that it finds on a kept connection as the response to its next request. They may be
/// excess bytes of the previous response (a server whose `Content-Length` was too small) or a 408 of a server that
/// closes an idle connection. They would become the response of another job. libcurl 8.0 and later checks this itself.
///
/// The class is confined to the thread of the loop.
final class SocketRegistry {
    /// Both endpoints, as libcurl reports them.
    struct Endpoints: Hashable {
        var localAddress: String
        var localPort: Int32
        var remoteAddress: String
        var remotePort: Int32
    }

    /// Sockets that have not carried a request.
    private var fresh: Set<Int32> = []
    private var used: [Endpoints: Int32] = [:]
    private var ends: [Int32: Endpoints] = [:]

    func opened(_ socket: Int32) { fresh.insert(socket) }

    /// The number of a closed descriptor may be reused.
    func closed(_ socket: Int32) {
        fresh.remove(socket)
        if let ends = ends.removeValue(forKey: socket) { used[ends] = nil }
    }

    /// libcurl calls this before it sends a request. A connection that was used before should have no input. If it has
    /// some, this shuts it down, and libcurl opens a new connection for the request.
    ///
    /// - Parameter opened: the sockets that libcurl has opened for the transfer. Thousands of transfers can begin at once, so the
    ///   others are not looked at.
    func willSend(through connection: Endpoints, opened: [Int32]) {
        guard let socket = used[connection] else { return recordFirstUse(of: connection, opened) }
        if hasInput(socket) { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    private func recordFirstUse(of connection: Endpoints, _ opened: [Int32]) {
        let socket = opened.last { fresh.contains($0) && localPort(of: $0) == connection.localPort }
        guard let socket else { return }
        fresh.remove(socket)
        used[connection] = socket
        ends[socket] = connection
    }

    /// Whether the socket has bytes or an end of stream to read.
    private func hasInput(_ socket: Int32) -> Bool {
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) > 0
    }

    private func localPort(of socket: Int32) -> Int32? {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) } == 0
        }
        // The port is at the same offset in the addresses of both families.
        return isKnown ? Int32(UInt16(bigEndian: address.sin6_port)) : nil
    }
}
