import CLinux

/// What the C library keeps of the memory that the process has freed.
public enum FreedMemory {
    /// Keeps less than the defaults: with them, a service that has taken 100,000 jobs has ten times the memory that it uses. Must be
    /// called before other threads start.
    public static func keepLittle() {
        // The heaps. Each keeps what is free; by default there are eight for each processor.
        mallopt(M_ARENA_MAX, 2)
        // Larger blocks are not in a heap. Without a fixed limit, it grows with the blocks that are freed, up to 32 MiB.
        mallopt(M_MMAP_THRESHOLD, 512 << 10)
    }

    /// Returns the memory that the process has freed to the system. It takes some milliseconds.
    ///
    /// The C library keeps freed memory for later allocations, and rarely returns memory between allocations that are still used.
    public static func giveBack() { malloc_trim(0) }
}
