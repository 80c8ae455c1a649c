import Locks

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
        /// Transfers that wait for their turn, with the mailboxes that receive changes of the limit.
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

    private static func rate(_ bytesPerSecond: Int64?) -> Int64? {
        bytesPerSecond.map { max(1, $0) }
    }
}

// MARK: - For one transfer

extension RateLimit {
    var isUnlimited: Bool {
        state.withLock { $0.shaper.bytesPerSecond == nil }
    }

    /// The number of bytes that a transfer reserves at once; nil without a limit.
    var quantum: Int? {
        state.withLock { $0.shaper.quantum(among: $0.waiting.count + 1) }
    }

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
