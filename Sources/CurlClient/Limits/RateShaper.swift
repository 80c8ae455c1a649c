/// A rate as a queue before a counter, as a value that is told the time.
///
/// The counter moves on by so many bytes a second. Whoever wants bytes books some, which gives a place behind everything
/// booked before; it is their turn when the counter has come there. So whoever books little at a time, and again when
/// that is used up, shares the rate evenly with all others who do.
struct RateShaper: Sendable {
    /// Bytes from the beginning of the queue.
    typealias Position = Double

    /// How long the counter may have waited for customers: what an idle rate lets through at once. As seconds of it.
    private static let burst = 0.1

    /// Nobody waits for less than this part of a byte: it is there by the time they could ask again.
    private static let tolerance: Position = 0.001

    /// The fewest bytes worth a wake-up, unless the rate is lower than ten times that.
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

    /// How much to book at once where `sharers` do so: together a tenth of a second's worth, so that each has its turn
    /// several times a second. nil when there is no limit.
    func quantum(among sharers: Int) -> Int? {
        guard let bytesPerSecond else { return nil }
        let tenth = max(1, Int(clamping: bytesPerSecond / 10))
        return min(tenth, max(tenth / max(1, sharers), Self.smallestQuantum))
    }

    mutating func reserve(_ count: Int, at now: ContinuousClock.Instant) -> Position {
        advance(to: now)
        let place = max(queueEnd, counter - Double(bytesPerSecond ?? 0) * Self.burst)
        queueEnd = place + Double(count)
        return place
    }

    /// Takes back a part of what was booked. Whoever came later keeps their place.
    mutating func refund(_ count: Int) {
        queueEnd -= Double(count)
    }

    /// When it is the place's turn; nil when it is.
    mutating func readyTime(of place: Position, at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        advance(to: now)
        guard let bytesPerSecond, place - counter > Self.tolerance else { return nil }
        // A tick of the clock more than that: rounded down, the moment would be too early, or even now, and whoever asks
        // again when it is due would never be done.
        return now + .seconds((place - counter) / Double(bytesPerSecond)) + .nanoseconds(1)
    }

    /// Nobody in the queue waits longer after the change than they would have before.
    mutating func setRate(_ rate: Int64?, at now: ContinuousClock.Instant) {
        advance(to: now)
        if let old = bytesPerSecond, let rate, rate < old {
            counter += max(0, queueEnd - counter) * (1 - Double(rate) / Double(old))
        }
        bytesPerSecond = rate
        advance(to: now)
    }

    /// The clock of one thread may be read a little earlier than another's.
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
