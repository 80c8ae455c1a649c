import Formats
import Foundation

/// The wall clock and the monotonic clock, read together.
struct ClockReading: Sendable, Equatable {
    var time: Date
    /// The time since the machine was started.
    var uptime: Duration
    /// Identifies the boot of the machine; nil when unknown.
    var boot: String?

    init(time: Date, uptime: Duration, boot: String?) {
        self.time = time
        self.uptime = uptime
        self.boot = boot
    }
}

extension ClockReading {
    /// The time from which the service continues at its start. It is the wall clock if that is plausible, else the time
    /// that follows from the stored times. The difference is a jump.
    ///
    /// - Parameters:
    ///   - last: the last stored reading; nil in a new database.
    ///   - newestEvent: the time of the last event, if it is later than that reading.
    func expectedTime(after last: ClockReading?, newestEvent: Date?) -> Date {
        if let last, let boot, last.boot == boot, last.uptime <= uptime {
            // The machine was not restarted, so this is exact for any downtime of the service.
            return last.time.addingTimeInterval((uptime - last.uptime).seconds)
        }
        guard let newest = newestEvent ?? last?.time else { return time }
        let absence = time.timeIntervalSince(newest)
        return absence < -ClockJump.tolerance || absence > ClockJump.longestAbsence ? newest : time
    }
}
