import Locks

/// Unused buffers. A transfer takes a buffer when bytes arrive, not when it starts, so a thousand idle connections hold
/// none.
final class BufferPool: Sendable {
    /// The maximum number of unused buffers; more are freed. It is enough for the hand-over between a loop and its
    /// writers.
    private static let maxIdle = 16

    private let bufferBytes: Int
    private let idle = Locked<[Buffer]>([])

    init(bufferBytes: Int) {
        self.bufferBytes = bufferBytes
    }

    func take() -> Buffer {
        idle.withLock { $0.popLast() } ?? Buffer(capacity: bufferBytes)
    }

    func giveBack(_ buffer: Buffer) {
        idle.withLock { idle in
            if idle.count < Self.maxIdle { idle.append(buffer) }
        }
    }
}
