import Base
import CMicroHTTPD
import Glibc

/// Sockets that linger after their response was sent, until the client stops sending or a time limit has passed.
///
/// If a request is refused before its body is read, the client often still sends. If a socket with unread bytes is
/// closed, the kernel resets the connection, and the client may not read the response. So these sockets stay open for a
/// short time, and their input is discarded.
final class LingeringSockets: Sendable {
    private let entries = Locked<[(descriptor: Descriptor, end: Connection.Instant)]>([])

    var isEmpty: Bool { entries.withLock { $0.isEmpty } }

    /// - Parameter descriptor: a socket whose sending side is shut down.
    func add(_ descriptor: Descriptor) {
        entries.withLock { entries in
            guard entries.count < Self.limit else { return }
            entries.append((descriptor, .now + Self.timeLimit))
        }
    }

    func drain(at now: Connection.Instant) {
        entries.withLock { entries in entries.removeAll { $0.end <= now || !Self.discard(from: $0.descriptor.number) } }
    }

    func closeAll() { entries.withLock { $0 = [] } }

    /// Returns false at the end of the stream. For TCP, MSG_TRUNC discards the bytes in the kernel.
    private static func discard(from descriptor: Int32) -> Bool {
        let count = recv(descriptor, nil, share, Int32(MSG_DONTWAIT | MSG_TRUNC))
        return count > 0 || (count < 0 && errno == EAGAIN)
    }

    /// The limit keeps many refused uploads from using up the descriptors.
    private static let limit = 256
    private static let timeLimit = Duration.seconds(2)
    /// The number of bytes to discard from one socket at a time, so that a fast client does not delay the others.
    private static let share = 1 << 20
    /// The interval of checks while there are any. A client blocks when the buffers of the kernel are full.
    static let interval = Duration.milliseconds(10)
}
