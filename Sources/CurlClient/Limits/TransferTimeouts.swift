/// The deadlines of a transfer, as a value without a clock.
///
/// libcurl itself limits the time to connect after the lookup. The other timeouts are checked here, because libcurl
/// detects a stall late, and cannot distinguish a silent server from a pause on our side.
struct TransferTimeouts {
    enum Verdict: Equatable {
        /// Check again at this time; nil if no deadline is set.
        case waits(until: ContinuousClock.Instant?)
        case hasExpired(TransferError.Deadline)
    }

    private let idle: Duration?
    private let end: ContinuousClock.Instant?
    /// The time of the last progress; nil while connecting or paused.
    private var lastProgress: ContinuousClock.Instant?
    /// The deadline of the lookup; nil if none runs.
    private var lookupEnd: ContinuousClock.Instant?

    init(_ timeouts: TransferRequest.Timeouts, start: ContinuousClock.Instant) {
        idle = timeouts.idle
        end = timeouts.total.map { start + $0 }
    }

    /// The lookup of the name has started.
    mutating func lookupBegan(deadline end: ContinuousClock.Instant) {
        lookupEnd = end
    }

    mutating func lookupEnded() {
        lookupEnd = nil
    }

    /// The request was sent, bytes were transferred, or a pause has ended.
    mutating func progressed(at now: ContinuousClock.Instant) {
        lastProgress = now
    }

    /// The transfer is paused on our side, so idle time does not count.
    mutating func paused() {
        lastProgress = nil
    }

    /// - Parameter graceEnd: no deadline expires before this time, because the loop was late itself.
    func verdict(at now: ContinuousClock.Instant, graceEnd: ContinuousClock.Instant?) -> Verdict {
        if case .hasExpired = verdict(at: now), let graceEnd, now < graceEnd { return .waits(until: graceEnd) }
        return verdict(at: now)
    }

    func verdict(at now: ContinuousClock.Instant) -> Verdict {
        if let end, now >= end { return .hasExpired(.total) }
        if let lookupEnd, now >= lookupEnd { return .hasExpired(.lookup) }
        let silence = idle.flatMap { idle in lastProgress.map { $0 + idle } }
        if let silence, now >= silence { return .hasExpired(.idle) }
        return .waits(until: [end, lookupEnd, silence].compactMap(\.self).min())
    }
}
