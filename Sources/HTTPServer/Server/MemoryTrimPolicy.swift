import CLinux
import Glibc

/// When a crowd of clients has gone, what was allocated for them goes back to the system.
///
/// The C library keeps freed memory for whoever comes next, and rarely gives back what lies between allocations that live
/// on: after 10,000 waits that is some 200 MiB that nobody has a use for.
struct MemoryTrimPolicy {
    private var highest = 0
    private var isFalling = false

    /// - Parameter connections: as many as there are now.
    /// - Returns: whether it is time to give memory back: half of a crowd has gone, and that was so at the look before, too:
    ///   by then what they leave behind has been freed.
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

    static func trim() { malloc_trim(0) }

    private static let crowd = 512
}
