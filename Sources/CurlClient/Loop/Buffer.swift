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
