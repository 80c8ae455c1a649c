import Formats
import Foundation

/// Time that runs evenly from one moment.
struct ClockView: Sendable, Equatable {
    private let time: Date
    private let uptime: Duration
    let confidence: ClockConfidence

    /// - Parameters:
    ///   - time: the time at that uptime.
    init(time: Date, uptime: Duration, confidence: ClockConfidence) {
        self.time = time
        self.uptime = uptime
        self.confidence = confidence
    }

    func time(at moment: Duration) -> Date {
        Date(milliseconds: time.milliseconds + (moment - uptime).milliseconds)
    }

    func uptime(at moment: Date) -> Duration {
        uptime + .milliseconds(moment.milliseconds - time.milliseconds)
    }

    func after(_ jump: ClockJump, _ reading: ClockReading) -> ClockView {
        ClockView(time: reading.time, uptime: reading.uptime, confidence: confidence.after(jump))
    }
}
