import CLinux
import Glibc

/// What the process holds of memory that it does not use any more.
public enum FreedMemory {
    /// Keeps less than the defaults: with them, a service that has taken 100,000 jobs has ten times the memory that it uses. Must be
    /// called before other threads start.
    public static func keepLittle() {
        // The heaps. Each keeps what is free; by default there are eight for each processor.
        mallopt(M_ARENA_MAX, 2)
        // Larger blocks are not in a heap. Without a fixed limit, it grows with the blocks that are freed, up to 32 MiB.
        mallopt(M_MMAP_THRESHOLD, 512 << 10)
    }

    /// Bytes of free blocks in the heaps, also of those whose memory was returned.
    public static var freeBytes: Int { Int(mallinfo2().fordblks) }

    /// Returns the memory that the process has freed to the system. It takes some milliseconds.
    ///
    /// The C library keeps freed memory for later allocations, and rarely returns memory between allocations that are still used.
    public static func giveBack() { malloc_trim(0) }

    /// Unmaps the code of the program and its libraries. What still runs is mapped again, one page fault for 64 KiB, from the
    /// memory of the system's file cache.
    ///
    /// More than half of the code that a start reads is not needed afterwards. Breakpoints that a debugger has set are lost.
    public static func unmapCode() {
        guard let map = KernelFile.text(of: "/proc/self/maps") else { return }
        for line in map.split(separator: "\n") {
            // proc_pid_maps(5): address perms offset dev inode pathname. Code is never written, so a file has all of it.
            let columns = line.split(separator: " ", maxSplits: 5)
            guard columns.count == 6, columns[1] == "r-xp", columns[5].contains("/") else { continue }
            let ends = columns[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard ends.count == 2 else { continue }
            madvise(UnsafeMutableRawPointer(bitPattern: ends[0]), Int(ends[1] - ends[0]), MADV_DONTNEED)
        }
    }
}
