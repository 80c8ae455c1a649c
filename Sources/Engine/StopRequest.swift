import Formats
import Foundation
import Locks
import Storage

/// The request to stop the engine. A write that the disk refuses is repeated while the engine runs, and for `stopGrace`
/// after this request.
final class StopRequest: Sendable {
    private let moment = Locked<ContinuousClock.Instant?>(nil)
    private let requested = Latch()

    private let intervals: Engine.Intervals

    init(intervals: Engine.Intervals) { self.intervals = intervals }

    var isMade: Bool { moment.withLock { $0 != nil } }

    /// Only the first request counts.
    func make() {
        moment.withLock { $0 = $0 ?? .now }
        requested.open()
    }

    /// Returns after the request was made. Cancelling the task has no effect.
    func wait() async { await requested.wait() }

    /// Waits before a failed write is repeated.
    ///
    /// - Returns: false when the write must not be repeated: the engine has been stopping for `stopGrace`, or the task
    ///   was cancelled.
    func pauseBeforeRepeating(by time: any TimeSource) async -> Bool {
        let made = moment.withLock { $0 }
        if let made, ContinuousClock.now - made >= .seconds(intervals.stopGrace) { return false }
        let pause = made == nil ? intervals.writeRetry : intervals.writeRetryWhileStopping
        do { try await time.sleep(until: time.now.addingTimeInterval(pause)) } catch { return false }
        return true
    }
}
