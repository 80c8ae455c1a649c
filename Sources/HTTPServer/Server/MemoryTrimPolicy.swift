import CLinux
import Glibc

/// Decides when to return freed memory to the system after many clients have disconnected.
///
/// The C library keeps freed memory for later allocations, and rarely returns memory between allocations that are still
/// used. After 10,000 waits, that is about 200 MiB of unused memory.
struct MemoryTrimPolicy {
    private var highest = 0
    private var isFalling = false

    /// - Parameter connections: the present number of connections.
    /// - Returns: true if at least half of many connections have closed, both now and at the previous check. By then
    ///   the memory that they used has been freed.
    mutating func shouldTrim(connections: Int) -> Bool {
        defer { highest = max(highest, connections) }
        guard highest >= Self.crowd, connections <= highest / 2 else {
            isFalling = false
            return false
        }
        guard isFalling else {
            isFalling = true
            return false
        }
        (highest, isFalling) = (connections, false)
        return true
    }

    /// Whether the policy has to see further numbers of connections.
    var mayTrim: Bool { highest >= Self.crowd }

    static func trim() { malloc_trim(0) }

    private static let crowd = 512
}
