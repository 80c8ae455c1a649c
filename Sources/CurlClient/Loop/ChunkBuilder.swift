/// Collects the small pieces that libcurl delivers into chunks.
struct ChunkBuilder {
    private let pool: BufferPool
    private let window: SharedWindow
    private var buffer: Buffer?
    private var filled = 0
    /// The arrival time of the first byte of the unfinished chunk; nil if there is none.
    private(set) var pendingSince: ContinuousClock.Instant?

    init(pool: BufferPool, window: SharedWindow) {
        self.pool = pool
        self.window = window
    }

    /// Copies bytes, for which the window must have room, and passes each full chunk to `handOver`.
    mutating func append(
        _ bytes: UnsafeRawBufferPointer, at now: ContinuousClock.Instant, handOver: (Chunk) -> Void
    ) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let buffer = currentBuffer(at: now)
            let piece = rest.prefix(buffer.capacity - filled)
            UnsafeMutableRawBufferPointer(start: buffer.start + filled, count: piece.count)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: piece))
            filled += piece.count
            rest = rest.dropFirst(piece.count)
            if filled == buffer.capacity, let chunk = takePending() { handOver(chunk) }
        }
    }

    /// Removes and returns the unfinished chunk.
    mutating func takePending() -> Chunk? {
        guard let buffer = buffer.take() else { return nil }
        defer {
            filled = 0
            pendingSince = nil
        }
        return Chunk(buffer, count: filled, pool: pool, window: window)
    }

    private mutating func currentBuffer(at now: ContinuousClock.Instant) -> Buffer {
        if let buffer { return buffer }
        let fresh = pool.take()
        buffer = fresh
        pendingSince = now
        return fresh
    }
}
