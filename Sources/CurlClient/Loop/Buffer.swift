import Glibc

/// The memory of one chunk.
///
/// It is unchecked because it has one owner at a time: the loop fills it, then a chunk holds it without changes. The
/// lock of the pool separates one owner from the next.
///
/// The memory comes from the kernel and returns to it. From the allocator, buffers that live for a moment would lie between
/// objects that live as long as a transfer, and would stay resident.
final class Buffer: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    let capacity: Int

    /// A page, for writers that bypass the page cache.
    static let alignment = 4096

    init(capacity: Int) {
        self.capacity = capacity
        let memory = mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { fatalError("no memory for \(capacity) bytes of a download") }
        start = memory
    }

    deinit { munmap(start, capacity) }
}
