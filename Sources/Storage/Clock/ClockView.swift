import Formats
import Foundation

/// How the service's time runs: from one moment on, evenly.
struct ClockView: Sendable, Equatable {
    private let time: Date
    private let uptime: Duration
    let standing: ClockStanding

    /// - Parameters:
    ///   - time: what is shown at that uptime.
    init(time: Date, uptime: Duration, standing: ClockStanding) {
        self.time = time
        self.uptime = uptime
        self.standing = standing
    }

    func time(at moment: Duration) -> Date {
        Date(milliseconds: time.milliseconds + (moment - uptime).milliseconds)
    }

    func uptime(at moment: Date) -> Duration {
        uptime + .milliseconds(moment.milliseconds - time.milliseconds)
    }

    func after(_ jump: ClockJump, _ reading: ClockReading) -> ClockView {
        ClockView(time: reading.time, uptime: reading.uptime, standing: standing.after(jump))
    }
}

/// What is to be stored of the clock.
struct ClockChange: Sendable {
    var reading: ClockReading
    /// How time runs from then on.
    var view: ClockView
    /// nil: the reading alone is stored.
    var jump: ClockJump?
    /// The first reading of this process.
    var isFirst: Bool
}
