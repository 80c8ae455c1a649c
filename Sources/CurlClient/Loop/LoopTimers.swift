/// The loop's time: the moment it works in, and the moments at which it must look at a transfer again.
///
/// The clock is read once a turn, right after the sleep, rather than for every 16 KiB: all that ended one sleep came at
/// one time.
final class LoopTimers {
    private(set) var now = ContinuousClock.now
    private var deadlines = DeadlineQueue<TransferID>()

    var earliest: ContinuousClock.Instant? { deadlines.earliest }

    func readClock() {
        now = ContinuousClock.now
    }

    /// Looks at the transfer at `moment`, or earlier if that was asked for already.
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

/// Durations in the units of the calls they are passed to.
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
