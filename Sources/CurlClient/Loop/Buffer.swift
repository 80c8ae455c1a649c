/// The memory of one chunk.
///
/// It is unchecked because it has one owner at a time: the loop fills it, then a chunk holds it without changes. The
/// lock of the pool separates one owner from the next.
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
