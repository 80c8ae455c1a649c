/// Whether a server keeps up its minimum speed, as a value that is told bytes, pauses and the time.
///
/// The window slides in ten steps: the bytes of each are kept, and at the end of a step the last ten are judged. The time
/// stands still while the transfer is paused, as nobody can send to one that does not read.
struct LowSpeedMonitor {
    private static let steps = 10

    private let minimum: Double
    private let step: Duration
    private var past: [Int64] = []
    private var current: Int64 = 0
    /// How much of the step is left, while the time stands still.
    private var rest: Duration
    /// When to ask for a verdict: the end of the step. nil while the time stands still, as it does at first.
    private(set) var nextCheck: ContinuousClock.Instant?

    /// nil when nothing is demanded.
    init?(_ speed: TransferRequest.MinimumSpeed?) {
        guard let speed, speed.bytesPerSecond > 0 else { return nil }
        let window = max(speed.over, .milliseconds(100))
        minimum = Double(speed.bytesPerSecond) * (window / .seconds(1))
        step = window / Self.steps
        rest = step
    }

    /// The transfer begins, or goes on after a pause.
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

    /// A step that is looked at late was a longer one; that is in the server's favour.
    mutating func isTooSlow(at now: ContinuousClock.Instant) -> Bool {
        guard let nextCheck, now >= nextCheck else { return false }
        past.append(current)
        if past.count > Self.steps { past.removeFirst() }
        current = 0
        self.nextCheck = now + step
        return past.count == Self.steps && Double(past.reduce(0, +)) < minimum
    }
}
