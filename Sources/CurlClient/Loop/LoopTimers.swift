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
