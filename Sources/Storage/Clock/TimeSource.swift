import Formats
import Foundation

/// A source of time: the machine, a manual clock of a test, or the clock of the service.
///
/// Times that are stored, or compared with stored times, use `now`. Times that are measured within the process, such as
/// rates and timeouts, use `uptime`.
public protocol TimeSource: Sendable {
    /// The wall clock in whole milliseconds, so that a stored time equals the time that is read back. It may jump in
    /// both directions.
    var now: Date { get }

    /// The time since the machine was started, including suspension (CLOCK_BOOTTIME of clock_gettime(2)). It never
    /// jumps.
    var uptime: Duration { get }

    /// Identifies the boot of the machine; nil when the system does not report it.
    var boot: String? { get }

    /// Returns when `uptime` is `deadline`, or earlier. Throws `CancellationError`.
    func sleep(untilUptime deadline: Duration) async throws

    /// Returns when `now` would be `deadline` if the clock did not jump, or earlier. Throws `CancellationError`.
    func sleep(until deadline: Date) async throws
}

extension TimeSource {
    public func sleep(until deadline: Date) async throws {
        try await sleep(untilUptime: uptime + .milliseconds(deadline.milliseconds - now.milliseconds))
    }

    /// Reads both clocks at one moment.
    var reading: ClockReading {
        // If the process was suspended between the two readings, the pair would look like a jump.
        for _ in 0..<10 {
            let (before, time, after) = (uptime, now, uptime)
            if after - before < .milliseconds(50) { return ClockReading(time: time, uptime: after, boot: boot) }
        }
        return ClockReading(time: now, uptime: uptime, boot: boot)
    }
}
