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
    mutating func started(at now: ContinuousClock.Instant) {
        if nextCheck == nil { nextCheck = now + rest }
    }

    mutating func paused(at now: ContinuousClock.Instant) {
        guard let nextCheck else { return }
        rest = max(.zero, nextCheck - now)
        self.nextCheck = nil
    }

    mutating func received(_ count: Int) {
        current += Int64(count)
    }

    /// Whether the speed of the last ten steps is below the minimum. A late check prolongs the step, in favour of the
    /// server.
    mutating func isTooSlow(at now: ContinuousClock.Instant) -> Bool {
        guard let nextCheck, now >= nextCheck else { return false }
        past.append(current)
        if past.count > Self.steps { past.removeFirst() }
        current = 0
        self.nextCheck = now + step
        return past.count == Self.steps && Double(past.reduce(0, +)) < minimum
    }
}
