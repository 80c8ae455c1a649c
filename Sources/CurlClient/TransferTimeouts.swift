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
    mutating func lookupBegan(deadline end: ContinuousClock.Instant) { lookupEnd = end }

    mutating func lookupEnded() { lookupEnd = nil }

    /// The request was sent, bytes were transferred, or a pause has ended.
    mutating func progressed(at now: ContinuousClock.Instant) { lastProgress = now }

    /// The transfer is paused on our side, so idle time does not count.
    mutating func paused() { lastProgress = nil }

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

/// Checks the minimum speed of a server, as a value without a clock.
///
/// A sliding window of ten steps: it keeps the bytes of each step, and checks the sum of the last ten at the end of
/// each step. The time of a pause does not count, because a server cannot send to a transfer that does not read.
struct LowSpeedMonitor {
    private static let steps = 10

    private let minimum: Double
    private let step: Duration
    private var past: [Int64] = []
    private var current: Int64 = 0
    /// The rest of the current step, while the transfer is paused.
    private var rest: Duration
    /// The time of the next check, at the end of the step; nil while the transfer is paused, and before it starts.
    private(set) var nextCheck: ContinuousClock.Instant?

    /// nil if there is no minimum speed.
    init?(_ speed: TransferRequest.MinimumSpeed?) {
        guard let speed, speed.bytesPerSecond > 0 else { return nil }
        let window = max(speed.over, .milliseconds(100))
        minimum = Double(speed.bytesPerSecond) * (window / .seconds(1))
        step = window / Self.steps
        rest = step
    }

    /// The transfer starts, or continues after a pause.
    mutating func started(at now: ContinuousClock.Instant) { if nextCheck == nil { nextCheck = now + rest } }

    mutating func paused(at now: ContinuousClock.Instant) {
        guard let nextCheck else { return }
        rest = max(.zero, nextCheck - now)
        self.nextCheck = nil
    }

    mutating func received(_ count: Int) { current += Int64(count) }

    /// Whether the speed of the last ten steps is below the minimum. A late check prolongs the step, in favour of the server.
    mutating func isTooSlow(at now: ContinuousClock.Instant) -> Bool {
        guard let nextCheck, now >= nextCheck else { return false }
        past.append(current)
        if past.count > Self.steps { past.removeFirst() }
        current = 0
        self.nextCheck = now + step
        return past.count == Self.steps && Double(past.reduce(0, +)) < minimum
    }
}
