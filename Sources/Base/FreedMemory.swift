import CLinux

public enum FreedMemory {
    /// Returns the memory that the process has freed to the system. It takes some milliseconds.
    ///
    /// The C library keeps freed memory for later allocations, and rarely returns memory between allocations that are still used.
    public static func giveBack() { malloc_trim(0) }
}
