import Glibc

/// The bytes that were given to a TCP socket.
struct SendQueue: Equatable {
    /// Bytes that the client has acknowledged since the connection began.
    var taken: UInt64
    /// Whether further bytes were not acknowledged yet.
    var isWaiting: Bool
}

extension SendQueue {
    /// nil if the socket is not a TCP socket.
    init?(of socket: Int32) {
        var numbers = [UInt64](repeating: 0, count: Self.size / 8)
        var length = socklen_t(Self.size)
        let result = getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &numbers, &length)
        guard result == 0, length >= socklen_t(Self.size) else { return nil }
        self = numbers.withUnsafeBytes { bytes in
            let unacknowledged = bytes.load(fromByteOffset: Self.unacknowledged, as: UInt32.self)
            let unsent = bytes.load(fromByteOffset: Self.unsent, as: UInt32.self)
            return SendQueue(
                taken: bytes.load(fromByteOffset: Self.acknowledged, as: UInt64.self),
                isWaiting: unacknowledged > 0 || unsent > 0)
        }
    }

    // The layout of `struct tcp_info` in linux/tcp.h. The struct of the C library ends before the last two members.

    /// Offset of `tcpi_unacked` (segments).
    private static let unacknowledged = 24
    /// Offset of `tcpi_bytes_acked`.
    private static let acknowledged = 120
    /// Offset of `tcpi_notsent_bytes`.
    private static let unsent = 144
    private static let size = 152
}
