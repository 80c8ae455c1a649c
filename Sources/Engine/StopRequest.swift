import Formats
import Foundation
import Locks
import Storage

/// The request that the engine stops. A write that the disk refuses is repeated for as long as the engine runs, and for a
/// moment after this request.
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

    /// Returns when the request is made. Cancelling the task has no effect.
    func wait() async { await requested.wait() }

    /// Waits for a while before a write is repeated.
    ///
    /// - Returns: false at once when it is not to be repeated: the engine has been stopping for long enough, or the task is
    ///   cancelled.
    func pauseBeforeRepeating(by time: any TimeSource) async -> Bool {
        let made = moment.withLock { $0 }
        if let made, ContinuousClock.now - made >= .seconds(intervals.stopGrace) { return false }
        let pause = made == nil ? intervals.writeRetry : intervals.writeRetryWhileStopping
        do { try await time.sleep(until: time.now.addingTimeInterval(pause)) } catch { return false }
        return true
    }
}
