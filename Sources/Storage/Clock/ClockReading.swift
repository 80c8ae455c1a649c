import Formats
import Foundation

/// The wall clock and the clock that never jumps, read together.
struct ClockReading: Sendable, Equatable {
    var time: Date
    /// Since the machine was started.
    var uptime: Duration
    /// Which start of the machine; nil when unknown.
    var boot: String?

    init(time: Date, uptime: Duration, boot: String?) {
        self.time = time
        self.uptime = uptime
        self.boot = boot
    }
}

extension ClockReading {
    /// The time that the service goes on from when it starts: that of the clock where it is plausible, else the time
    /// that would be expected after what was stored last. The difference is a jump.
    ///
    /// - Parameters:
    ///   - last: the reading that was stored last; nil in a new database.
    ///   - newestEvent: the time of the last event, where it was written after that reading.
    func expectedTime(after last: ClockReading?, newestEvent: Date?) -> Date {
        if let last, let boot, last.boot == boot, last.uptime <= uptime {
            // The same machine, never switched off in between: however long the service was stopped, this is exact.
            return last.time.addingTimeInterval((uptime - last.uptime).seconds)
        }
        guard let newest = newestEvent ?? last?.time else { return time }
        let absence = time.timeIntervalSince(newest)
        return absence < -ClockJump.tolerance || absence > ClockJump.longestAbsence ? newest : time
    }
}
