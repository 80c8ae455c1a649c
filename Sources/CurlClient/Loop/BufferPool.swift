import Locks

/// The memory of one chunk.
///
/// Unchecked, as it has one owner at a time: the loop fills it, a chunk then holds it unchanged, and the pool's lock is
/// between one owner and the next.
final class Buffer: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        // Aligned to pages, for writers that bypass the page cache.
        start = .allocate(byteCount: capacity, alignment: 4096)
    }

    deinit {
        start.deallocate()
    }
}

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
