/// The bytes that a transfer may receive now, under all of its limits.
///
/// It reserves the same number of bytes with each limit, and the transfer may receive them when its turn has come with
/// all limits. Pieces of libcurl cannot be divided, so a transfer may receive more. The next reservations pay for this
/// debt first.
struct RateReservation {
    private struct PendingReservation {
        let count: Int
        let positions: [RateShaper.Position]
    }

    private let transfer: TransferID
    private let limits: [RateLimit]
    private let mailbox: Mailbox
    private var credit = 0
    private var pending: PendingReservation?

    init(of transfer: TransferID, under limits: [RateLimit], mailbox: Mailbox) {
        self.transfer = transfer
        self.mailbox = mailbox
        // A limit that is listed twice would count the bytes twice.
        self.limits = limits.reduce(into: []) { distinct, limit in
            if !distinct.contains(where: { $0 === limit }) { distinct.append(limit) }
        }
    }

    /// The time of the next check; nil if bytes may be received now.
    mutating func readyTime(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        if credit > 0 || limits.isEmpty { return nil }
        if limits.allSatisfy(\.isUnlimited) {
            cancelPending(at: now)
            credit = 0
            return nil
        }
        while credit <= 0 {
            let pending = pending ?? reserve(at: now)
            self.pending = pending
            let turns = zip(limits, pending.positions).compactMap { limit, position in
                limit.readyTime(of: position, at: now)
            }
            if let last = turns.max() { return last }
            credit += pending.count
            self.pending = nil
            for limit in limits { limit.leave(transfer, at: now) }
        }
        return nil
    }

    mutating func take(_ count: Int) {
        if !limits.isEmpty { credit -= count }
    }

    /// The transfer has ended. Its unused reservation is returned to the limits, and its debt delays other transfers.
    mutating func close(at now: ContinuousClock.Instant) {
        cancelPending(at: now)
        for limit in limits where credit != 0 { limit.leave(transfer, unused: credit, at: now) }
        credit = 0
    }

    private func reserve(at now: ContinuousClock.Instant) -> PendingReservation {
        let count = limits.compactMap(\.quantum).min() ?? 1 - credit
        return PendingReservation(
            count: count, positions: limits.map { $0.reserve(count, for: transfer, at: now, tell: mailbox) })
    }

    private mutating func cancelPending(at now: ContinuousClock.Instant) {
        guard let pending = pending.take() else { return }
        for limit in limits { limit.leave(transfer, unused: pending.count, at: now) }
    }
}
