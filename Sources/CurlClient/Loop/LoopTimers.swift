import Locks

/// The time of the current turn, and the timers of the transfers.
///
/// The loop reads the clock once in each turn, after its sleep, instead of for every 16 KiB.
final class LoopTimers {
    private(set) var now = ContinuousClock.now
    private var deadlines = DeadlineQueue<TransferID>()
    private var grace = LatenessGrace()

    var earliest: ContinuousClock.Instant? { deadlines.earliest }

    /// The end of the time in which no server is judged, because the loop was late; nil if servers may be judged.
    var graceEnd: ContinuousClock.Instant? { grace.end(at: now) }

    /// A turn begins.
    ///
    /// - Parameter planned: the longest time that was planned since the former turn; nil: no timer was set.
    func readClock(after planned: Duration?) {
        let former = now
        now = ContinuousClock.now
        if let planned { grace.beganTurn(at: now, planned: former + planned) }
    }

    /// The loop checks the transfer at `moment`, or earlier if an earlier timer is set.
    func schedule(_ transfer: TransferID, at moment: ContinuousClock.Instant) {
        deadlines.add(transfer, at: moment)
    }

    func cancel(_ transfer: TransferID) {
        deadlines.remove(transfer)
    }

    func popDue() -> TransferID? {
        deadlines.popDue(at: now)
    }
}

/// Conversion for the system calls and options that take milliseconds.
extension Duration {
    /// Rounded up, so that the loop does not wake just before the time; at least 0.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let fraction = Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        let (whole, overflow) = Int(seconds).multipliedReportingOverflow(by: 1000)
        return overflow ? .max : whole.addingReportingOverflow(fraction).overflow ? .max : whole + fraction
    }
}
