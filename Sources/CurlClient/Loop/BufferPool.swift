import Locks

/// Unused buffers. A transfer takes a buffer when bytes arrive, not when it starts, so a thousand idle connections hold
/// none. A slow transfer takes small ones, because it holds each of them until the flush interval ends.
final class BufferPool: Sendable {
    enum Size { case small, large }

    /// The maximum number of unused buffers of each size; more are freed. It is enough for the hand-over between a loop
    /// and its writers.
    private static let maxIdle = 16
    /// Bytes.
    private static let small = 32 << 10

    private let smallBytes: Int
    private let largeBytes: Int
    private let idle = Locked<(small: [Buffer], large: [Buffer])>(([], []))

    init(bufferBytes: Int) {
        largeBytes = bufferBytes
        smallBytes = min(bufferBytes, Self.small)
    }

    func take(_ size: Size) -> Buffer {
        switch size {
        case .small: idle.withLock { $0.small.popLast() } ?? Buffer(capacity: smallBytes)
        case .large: idle.withLock { $0.large.popLast() } ?? Buffer(capacity: largeBytes)
        }
    }

    func giveBack(_ buffer: Buffer) {
        idle.withLock { idle in
            if buffer.capacity == smallBytes {
                if idle.small.count < Self.maxIdle { idle.small.append(buffer) }
            } else {
                if idle.large.count < Self.maxIdle { idle.large.append(buffer) }
            }
        }
    }
}
