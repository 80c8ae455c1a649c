/// What one transfer may receive now, under all of its limits.
///
/// It books the same bytes with each limit and may take them when it is its turn with all of them. What it takes beyond
/// that, as libcurl's pieces cannot be cut, is a debt that the next bookings pay before anything more is taken.
struct RateReservation {
    private struct PendingReservation {
        let count: Int
        let places: [RateShaper.Position]
    }

    private let transfer: TransferID
    private let limits: [RateLimit]
    private let mailbox: Mailbox
    private var credit = 0
    private var pending: PendingReservation?

    init(of transfer: TransferID, under limits: [RateLimit], mailbox: Mailbox) {
        self.transfer = transfer
        self.mailbox = mailbox
        // A limit that is named twice would be paid twice.
        self.limits = limits.reduce(into: []) { distinct, limit in
            if !distinct.contains(where: { $0 === limit }) { distinct.append(limit) }
        }
    }

    /// When to ask again; nil when bytes may be taken now.
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
            let turns = zip(limits, pending.places).compactMap { limit, place in limit.readyTime(of: place, at: now) }
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

    /// The transfer is over: what it booked and did not take is for others, and what it owes is theirs to wait for.
    mutating func close(at now: ContinuousClock.Instant) {
        cancelPending(at: now)
        for limit in limits where credit != 0 { limit.leave(transfer, unused: credit, at: now) }
        credit = 0
    }

    private func reserve(at now: ContinuousClock.Instant) -> PendingReservation {
        let count = limits.compactMap(\.quantum).min() ?? 1 - credit
        return PendingReservation(
            count: count, places: limits.map { $0.reserve(count, for: transfer, at: now, tell: mailbox) })
    }

    private mutating func cancelPending(at now: ContinuousClock.Instant) {
        guard let pending = pending.take() else { return }
        for limit in limits { limit.leave(transfer, unused: pending.count, at: now) }
    }
}
