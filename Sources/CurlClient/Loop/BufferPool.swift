import Locks

/// Buffers that wait for their next bytes. A transfer takes one when bytes come, not when it begins, so that a thousand
/// silent connections hold none.
final class BufferPool: Sendable {
    /// Idle buffers kept; more are freed. Enough for the hand-over between a loop and its writers.
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
