// Closing politely. When a request is refused before its body has been read, the client is often still sending. Closing
// a socket with unread bytes makes the kernel reset the connection, and a client that is reset in the middle of sending
// may never look at the answer that says why. So the sockets of refused requests stay open for a moment after the
// library is done with them, and what still comes is thrown away.

import Descriptors
import Glibc
import Locks

/// Sockets of which only the reading side is left, until the client stops sending or has had time enough.
final class LingeringSockets: Sendable {
    private struct Entry {
        var descriptor: Descriptor
        var end: Connection.Instant
    }

    private let entries = Locked<[Entry]>([])

    var isEmpty: Bool { entries.withLock { $0.isEmpty } }

    /// Takes over a descriptor whose writing side has been shut down.
    func add(_ descriptor: Descriptor) {
        entries.withLock { entries in
            guard entries.count < Self.limit else { return }
            entries.append(Entry(descriptor: descriptor, end: .now + Self.timeLimit))
        }
    }

    /// Throws away what has come, and closes what is over.
    func drain(at now: Connection.Instant) {
        entries.withLock { entries in
            entries.removeAll { $0.end <= now || !Self.discard(from: $0.descriptor.number) }
        }
    }

    func closeAll() {
        entries.withLock { $0 = [] }
    }

    /// False at the end of the stream. Of TCP, MSG_TRUNC drops the bytes inside the kernel.
    private static func discard(from descriptor: Int32) -> Bool {
        let count = recv(descriptor, nil, share, Int32(MSG_DONTWAIT | MSG_TRUNC))
        return count > 0 || (count < 0 && errno == EAGAIN)
    }

    /// A flood of refused uploads must not use up the descriptors.
    private static let limit = 256
    private static let timeLimit = Duration.seconds(2)
    /// Bytes of one socket at a time, so that a fast one does not hold up the others.
    private static let share = 1 << 20
    /// How often to look while there are any: the client stands still when the kernel's buffers are full.
    static let interval = Duration.milliseconds(10)
}
