/// Makes chunks of the small pieces that libcurl hands out.
struct ChunkBuilder {
    private let pool: BufferPool
    private let window: SharedWindow
    private var buffer: Buffer?
    private var filled = 0
    /// When the first byte of the unfinished chunk came; nil when there is none.
    private(set) var pendingSince: ContinuousClock.Instant?

    init(pool: BufferPool, window: SharedWindow) {
        self.pool = pool
        self.window = window
    }

    /// Copies bytes that have room in the window, and hands over each chunk that becomes full.
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

    /// The unfinished chunk, as it is.
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
