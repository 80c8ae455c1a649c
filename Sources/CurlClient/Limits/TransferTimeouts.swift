/// How long a transfer is still waited for: its deadlines, as a value that is told the time.
///
/// libcurl watches the time to connect, once it knows what to connect to. The rest is watched here, because its
/// low-speed check sees a stall late after bytes came, and because only we know whether a silence is the server's or our
/// own pause.
struct TransferTimeouts {
    enum Verdict: Equatable {
        /// Look again then; nil: no deadline is running.
        case waits(until: ContinuousClock.Instant?)
        case hasExpired(TransferError.Deadline)
    }

    private let idle: Duration?
    private let end: ContinuousClock.Instant?
    /// When something last moved; nil while connecting or paused.
    private var lastProgress: ContinuousClock.Instant?
    /// Until when addresses are awaited; nil when they are not.
    private var lookupEnd: ContinuousClock.Instant?

    init(_ timeouts: TransferRequest.Timeouts, start: ContinuousClock.Instant) {
        idle = timeouts.idle
        end = timeouts.total.map { start + $0 }
    }

    /// A name is being looked up.
    mutating func lookupBegan(deadline end: ContinuousClock.Instant) {
        lookupEnd = end
    }

    mutating func lookupEnded() {
        lookupEnd = nil
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
        if let end, now >= end { return .hasExpired(.total) }
        if let lookupEnd, now >= lookupEnd { return .hasExpired(.lookup) }
        let silence = idle.flatMap { idle in lastProgress.map { $0 + idle } }
        if let silence, now >= silence { return .hasExpired(.idle) }
        return .waits(until: [end, lookupEnd, silence].compactMap(\.self).min())
    }
}
