/// Collects the small pieces that libcurl delivers into chunks.
///
/// A chunk begins in its buffer at the same place within a page as in the body. So a writer that bypasses the page cache
/// can write the chunks after an unfinished one, too.
struct ChunkBuilder {
    private let pool: BufferPool
    private let window: SharedWindow
    private var buffer: Buffer?
    /// The bytes of the buffer that belong to the unfinished chunk.
    private var filled = 0..<0
    /// The number of bytes of the body so far.
    private var position = 0
    /// The size of the next buffer. A transfer that fills its chunks in time gets large ones.
    private var next = BufferPool.Size.small
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
            let piece = rest.prefix(buffer.capacity - filled.upperBound)
            UnsafeMutableRawBufferPointer(start: buffer.start + filled.upperBound, count: piece.count)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: piece))
            filled = filled.lowerBound..<filled.upperBound + piece.count
            position += piece.count
            rest = rest.dropFirst(piece.count)
            guard filled.upperBound == buffer.capacity else { continue }
            next = .large
            if let chunk = takePending() { handOver(chunk) }
        }
    }

    /// Removes and returns the unfinished chunk, because it did not become full in time.
    mutating func takeOverdue() -> Chunk? {
        next = .small
        return takePending()
    }

    /// Removes and returns the unfinished chunk.
    mutating func takePending() -> Chunk? {
        guard let buffer = buffer.take() else { return nil }
        defer { pendingSince = nil }
        return Chunk(buffer, filled, pool: pool, window: window)
    }

    private mutating func currentBuffer(at now: ContinuousClock.Instant) -> Buffer {
        if let buffer { return buffer }
        let fresh = pool.take(next)
        let start = fresh.capacity.isMultiple(of: Buffer.alignment) ? position % Buffer.alignment : 0
        buffer = fresh
        filled = start..<start
        pendingSince = now
        return fresh
    }
}
