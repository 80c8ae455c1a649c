/// How long a transfer is still waited for: its idle and total deadlines, as a value that is told the time.
///
/// libcurl watches the time to connect. The rest is watched here, because its low-speed check sees a stall late after
/// bytes came, and because only we know whether a silence is the server's or our own pause.
struct Patience {
    enum Verdict: Equatable {
        /// Look again then; nil: no deadline is running.
        case waits(until: ContinuousClock.Instant?)
        case isExhausted(TransferError.Deadline)
    }

    private let idle: Duration?
    private let end: ContinuousClock.Instant?
    /// When something last moved; nil while connecting or paused.
    private var lastProgress: ContinuousClock.Instant?

    init(_ timeouts: TransferRequest.Timeouts, start: ContinuousClock.Instant) {
        idle = timeouts.idle
        end = timeouts.total.map { start + $0 }
    }

    /// The request is being sent, bytes moved, or a pause ended.
    mutating func progressed(at now: ContinuousClock.Instant) {
        lastProgress = now
    }

    /// The silence is ours from here on.
    mutating func paused() {
        lastProgress = nil
    }

    func verdict(at now: ContinuousClock.Instant) -> Verdict {
        if let end, now >= end { return .isExhausted(.total) }
        guard let idle, let lastProgress else { return .waits(until: end) }
        let silence = lastProgress + idle
        if now >= silence { return .isExhausted(.idle) }
        return .waits(until: end.map { min($0, silence) } ?? silence)
    }
}
