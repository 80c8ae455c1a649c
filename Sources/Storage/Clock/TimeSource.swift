import Formats
import Foundation

/// Where the time comes from: the system, a clock that a test turns by hand, or the service's own, which follows one of
/// these.
///
/// What is written down or compared with what was written down goes by `now`. What is measured while the process runs
/// (rates, silence, elapsed seconds) goes by `uptime`.
public protocol TimeSource: Sendable {
    /// The wall clock, in whole milliseconds, so that what is stored and read back is equal. It may jump either way.
    var now: Date { get }

    /// Time since the machine was started, suspension included (CLOCK_BOOTTIME of clock_gettime(2)). It never jumps.
    var uptime: Duration { get }

    /// Differs from one start of the machine to the next; nil where the system does not say.
    var boot: String? { get }

    /// Returns when `uptime` is `deadline`, or a while before; throws `CancellationError`.
    func sleep(untilUptime deadline: Duration) async throws

    /// Returns when `now` would be `deadline` if the clock did not jump, or a while before; throws `CancellationError`.
    func sleep(until deadline: Date) async throws
}

extension TimeSource {
    public func sleep(until deadline: Date) async throws {
        try await sleep(untilUptime: uptime + .milliseconds(deadline.milliseconds - now.milliseconds))
    }

    /// Both clocks at one moment.
    var reading: ClockReading {
        // Where the process was suspended between the two, the pair would look like a jump.
        for _ in 0..<10 {
            let (before, time, after) = (uptime, now, uptime)
            if after - before < .milliseconds(50) { return ClockReading(time: time, uptime: after, boot: boot) }
        }
        return ClockReading(time: now, uptime: uptime, boot: boot)
    }
}
