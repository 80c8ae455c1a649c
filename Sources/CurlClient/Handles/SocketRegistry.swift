import Glibc

/// libcurl's sockets by the connections they are, so that a connection can be looked at before it is used again.
///
/// libcurl 7.88.1 takes whatever lies in a kept connection for the answer to its next request, be it the excess of the
/// answer before (a server whose `Content-Length` was too small) or the parting word of a server that has given up waiting
/// (408). That answer would be another job's. Since 8.0 it looks by itself.
///
/// Confined to the loop's thread.
final class SocketRegistry {
    /// Both ends, as libcurl names them.
    struct Endpoints: Hashable {
        var localAddress: String
        var localPort: Int32
        var remoteAddress: String
        var remotePort: Int32
    }

    /// Those that have carried no request yet.
    private var fresh: Set<Int32> = []
    private var used: [Endpoints: Int32] = [:]
    private var ends: [Int32: Endpoints] = [:]

    func opened(_ socket: Int32) {
        fresh.insert(socket)
    }

    /// Its number may be another file's from now on.
    func closed(_ socket: Int32) {
        fresh.remove(socket)
        if let ends = ends.removeValue(forKey: socket) { used[ends] = nil }
    }

    /// A request is about to go out. When it goes through a connection that has carried one before, and that should be
    /// silent but is not, nothing will go through: libcurl then makes another, and asks there.
    func willSend(through connection: Endpoints) {
        guard let socket = used[connection] else { return noteFirstUse(of: connection) }
        if hasInput(socket) { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    private func noteFirstUse(of connection: Endpoints) {
        guard let socket = fresh.first(where: { localPort(of: $0) == connection.localPort }) else { return }
        fresh.remove(socket)
        used[connection] = socket
        ends[socket] = connection
    }

    /// Bytes, or the end.
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
        // The port has the same place in the addresses of both families.
        return isKnown ? Int32(UInt16(bigEndian: address.sin6_port)) : nil
    }
}
