import Glibc

/// The socket on which the service manager receives messages about the state of this process (sd_notify(3)).
struct NotifySocket: Sendable {
    private let address: sockaddr_un
    private let length: socklen_t

    /// - Parameter name: the value of `NOTIFY_SOCKET`: an absolute path, or `@` and an abstract name (unix(7)).
    /// - Returns: nil for another kind of address, and for a name that is too long.
    init?(_ name: String) {
        var bytes = Array(name.utf8)
        guard let first = bytes.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@") else { return nil }
        if first == UInt8(ascii: "@") { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { path in
            guard bytes.count < path.count else { return false }
            path.copyBytes(from: bytes)
            return true
        }
        guard fits, let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) else { return nil }
        self.address = address
        // An abstract name has no end mark: the length of the address ends it.
        length = socklen_t(start + bytes.count)
    }

    /// Sends one datagram. It can block while the queue of the receiver is full.
    ///
    /// - Returns: false if the receiver does not exist or does not take the datagram.
    @discardableResult
    func send(_ message: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(message.utf8)
        return withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length) == bytes.count
            }
        }
    }
}
