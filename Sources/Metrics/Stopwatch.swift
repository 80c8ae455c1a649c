import Glibc

/// Measures a duration with the monotonic clock (CLOCK_MONOTONIC of clock_gettime(2)), without a system call. The time
/// during which the machine is suspended does not count.
public struct Stopwatch: Sendable {
    private let start: UInt64

    /// Starts it.
    public init() { start = Self.now }

    /// The time since the start.
    public var nanoseconds: UInt64 { Self.now &- start }
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
