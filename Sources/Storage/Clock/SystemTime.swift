import Formats
import Foundation

/// The clocks of the machine.
public struct SystemTime: TimeSource {
    public init() {}

    public var now: Date { Date(milliseconds: Date().milliseconds) }

    public var uptime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    public var boot: String? { Self.boot }

    public func sleep(untilUptime deadline: Duration) async throws {
        // A timer of the runtime may sleep too long when the machine is suspended. After a minute at most the caller
        // checks again.
        let left = min(deadline - uptime, .seconds(60))
        if left > .zero { try await Task.sleep(for: left) }
    }

    /// random(4): "a random string, generated once" at each start of the kernel.
    private static let boot = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))
        .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
}
