import Base

/// A rate limit that transfers share, for example the limit of a job, of a session or of the service.
///
/// All transfers that name it in `TransferRequest.rateLimits` together receive at most this rate of body bytes, in even
/// shares. A transfer with several limits observes all of them. Heads, request bodies and discarded response bodies do
/// not count. A transfer that has to wait is paused like one with a full window: its bytes stay in socket buffers, and
/// TCP slows down the server.
///
/// After an idle time, up to a fifth of a second of the rate arrives at once. libcurl delivers pieces of up to 16 KiB
/// (1 KiB if the limit was low when the transfer started). A piece is accepted completely and paid for afterwards. So
/// below 160 kB/s bytes come in bursts of that size, and the average rate still holds.
public final class RateLimit: Sendable {
    private struct State: Sendable {
        var shaper: RateShaper
        var waiting: [TransferID: Mailbox] = [:]
    }

    private let state: Locked<State>

    /// - Parameter bytesPerSecond: nil is unlimited. A value below 1 counts as 1.
    public init(bytesPerSecond: Int64?) {
        state = Locked(State(shaper: RateShaper(bytesPerSecond: Self.rate(bytesPerSecond), at: .now)))
    }

    /// Any thread may change it at any time. A higher rate resumes waiting transfers at once. A lower rate takes effect
    /// within a second. nil is unlimited. A value below 1 counts as 1.
    public var bytesPerSecond: Int64? {
        get { state.withLock { $0.shaper.bytesPerSecond } }
        set {
            let rate = Self.rate(newValue)
            let waiting = state.withLock { state -> [TransferID: Mailbox] in
                guard rate != state.shaper.bytesPerSecond else { return [:] }
                state.shaper.setRate(rate, at: .now)
                return state.waiting
            }
            for (transfer, mailbox) in waiting { mailbox.post(.rateLimitChanged(transfer)) }
        }
    }

    private static func rate(_ bytesPerSecond: Int64?) -> Int64? { bytesPerSecond.map { max(1, $0) } }
}

// MARK: - For one transfer

extension RateLimit {
    var isUnlimited: Bool { state.withLock { $0.shaper.bytesPerSecond == nil } }

    /// The number of bytes that a transfer reserves at once; nil without a limit.
    var quantum: Int? { state.withLock { $0.shaper.quantum(among: $0.waiting.count + 1) } }

    /// Reserves bytes for a transfer. `mailbox` receives changes of the limit until the transfer leaves.
    func reserve(
        _ count: Int, for transfer: TransferID, at now: ContinuousClock.Instant, tell mailbox: Mailbox
    ) -> RateShaper.Position {
        state.withLock { state in
            state.waiting[transfer] = mailbox
            return state.shaper.reserve(count, at: now)
        }
    }

    func readyTime(of position: RateShaper.Position, at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        state.withLock { $0.shaper.readyTime(of: position, at: now) }
    }

    /// The transfer no longer waits. `unused` bytes of its reservation are returned. If `unused` is negative, the
    /// transfer has received more than it reserved, and the difference delays later reservations.
    func leave(_ transfer: TransferID, unused: Int = 0, at now: ContinuousClock.Instant) {
        state.withLock { state in
            state.waiting[transfer] = nil
            if unused > 0 { state.shaper.refund(unused) }
            if unused < 0 { _ = state.shaper.reserve(-unused, at: now) }
        }
    }
}

/// A rate limit with a virtual queue, as a value without a clock.
///
/// A counter advances by the rate. A reservation of bytes gets the position behind all earlier reservations, and it may be used
/// when the counter reaches that position. Transfers that reserve small amounts repeatedly share the rate evenly.
struct RateShaper: Sendable {
    typealias Position = Double

    /// The burst that an idle limit allows, in seconds of its rate.
    private static let burst = 0.1

    /// A shorter wait than for this part of a byte would be over before the caller checks again.
    private static let tolerance: Position = 0.001

    /// The smallest reservation in bytes, unless the rate is lower than ten times that.
    private static let smallestQuantum = 1024

    private(set) var bytesPerSecond: Int64?
    private var counter: Position = 0
    private var queueEnd: Position = 0
    private var lastLook: ContinuousClock.Instant

    /// - Parameter bytesPerSecond: at least 1; nil is unlimited.
    init(bytesPerSecond: Int64?, at now: ContinuousClock.Instant) {
        self.bytesPerSecond = bytesPerSecond
        lastLook = now
    }

    /// The number of bytes to reserve at once if `sharers` transfers share the limit. Together they reserve a tenth of
    /// a second, so that each transfer gets its turn several times a second. nil if there is no limit.
    func quantum(among sharers: Int) -> Int? {
        guard let bytesPerSecond else { return nil }
        let tenth = max(1, Int(clamping: bytesPerSecond / 10))
        return min(tenth, max(tenth / max(1, sharers), Self.smallestQuantum))
    }

    mutating func reserve(_ count: Int, at now: ContinuousClock.Instant) -> Position {
        advance(to: now)
        let position = max(queueEnd, counter - Double(bytesPerSecond ?? 0) * Self.burst)
        queueEnd = position + Double(count)
        return position
    }

    mutating func refund(_ count: Int) { queueEnd -= Double(count) }

    /// The time at which the reservation at this position may be used; nil if it may be used now.
    mutating func readyTime(of position: Position, at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        advance(to: now)
        guard let bytesPerSecond, position - counter > Self.tolerance else { return nil }
        // One nanosecond later than computed: if the time were rounded down, a caller that checks again at this time
        // would have to wait again, for ever.
        return now + .seconds((position - counter) / Double(bytesPerSecond)) + .nanoseconds(1)
    }

    /// Changes the rate. Existing reservations do not wait longer than before the change.
    mutating func setRate(_ rate: Int64?, at now: ContinuousClock.Instant) {
        advance(to: now)
        if let old = bytesPerSecond, let rate, rate < old {
            counter += max(0, queueEnd - counter) * (1 - Double(rate) / Double(old))
        }
        bytesPerSecond = rate
        advance(to: now)
    }

    /// The time may be slightly earlier than in a previous call, because each thread reads its own.
    private mutating func advance(to now: ContinuousClock.Instant) {
        guard let bytesPerSecond else {
            counter = max(counter, queueEnd)
            lastLook = max(lastLook, now)
            return
        }
        guard now > lastLook else { return }
        counter += Double(bytesPerSecond) * ((now - lastLook) / .seconds(1))
        lastLook = now
    }
}

/// The bytes that a transfer may receive now, under all of its limits.
///
/// It reserves the same number of bytes with each limit, and the transfer may receive them when its turn has come with all
/// limits. Pieces of libcurl cannot be divided, so a transfer may receive more. The next reservations pay for this debt first.
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
    /// Whether no limit had a rate at the last call of `readyTime`.
    private(set) var isUnlimited = false

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
        if credit > 0 { return nil }
        isUnlimited = limits.allSatisfy(\.isUnlimited)
        if isUnlimited {
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

    mutating func take(_ count: Int) { if !limits.isEmpty { credit -= count } }

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
