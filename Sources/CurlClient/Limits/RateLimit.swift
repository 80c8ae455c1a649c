import Locks

/// A rate that transfers share: of a job, of a session, of the service.
///
/// Each transfer that names it in `TransferRequest.rateLimits` receives bytes of body at such a rate that all of them
/// together keep to it, in even shares; a transfer with several limits keeps to every one. Heads, request bodies, and
/// bodies that nobody wants are not counted. A transfer that may not receive is paused as by a full window: its bytes wait
/// in socket buffers, and TCP slows down the server.
///
/// After a silence, up to a fifth of a second's worth comes at once. libcurl hands out pieces of up to 16 KiB (1 KiB
/// where the limit was low when the transfer began), which are taken whole and paid for afterwards: below 160 kB/s bytes
/// come in bursts of that size, and the average still holds.
public final class RateLimit: Sendable {
    private struct State: Sendable {
        var shaper: RateShaper
        /// Transfers that wait for their turn, and where to tell them of a change.
        var waiting: [TransferID: Mailbox] = [:]
    }

    private let state: Locked<State>

    /// - Parameter bytesPerSecond: nil is unlimited; less than 1 counts as 1.
    public init(bytesPerSecond: Int64?) {
        state = Locked(State(shaper: RateShaper(bytesPerSecond: Self.rate(bytesPerSecond), at: .now)))
    }

    /// May be changed at any time, from any thread. A higher rate lets waiting transfers go on at once; a lower one
    /// holds within a second. nil is unlimited; less than 1 counts as 1.
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

    private static func rate(_ bytesPerSecond: Int64?) -> Int64? {
        bytesPerSecond.map { max(1, $0) }
    }
}

// MARK: - For one transfer

extension RateLimit {
    var isUnlimited: Bool {
        state.withLock { $0.shaper.bytesPerSecond == nil }
    }

    /// How much a transfer books at once; nil without a limit.
    var quantum: Int? {
        state.withLock { $0.shaper.quantum(among: $0.waiting.count + 1) }
    }

    /// Books bytes for a transfer, which from now on is told of changes at `mailbox`.
    func reserve(
        _ count: Int, for transfer: TransferID, at now: ContinuousClock.Instant, tell mailbox: Mailbox
    ) -> RateShaper.Position {
        state.withLock { state in
            state.waiting[transfer] = mailbox
            return state.shaper.reserve(count, at: now)
        }
    }

    func readyTime(of place: RateShaper.Position, at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        state.withLock { $0.shaper.readyTime(of: place, at: now) }
    }

    /// The transfer waits no more. `unused` bytes of what it booked go back; it owes them when they are negative.
    func leave(_ transfer: TransferID, unused: Int = 0, at now: ContinuousClock.Instant) {
        state.withLock { state in
            state.waiting[transfer] = nil
            if unused > 0 { state.shaper.refund(unused) }
            if unused < 0 { _ = state.shaper.reserve(-unused, at: now) }
        }
    }
}
