/// A rate limit with a virtual queue, as a value without a clock.
///
/// A counter advances by the rate. A reservation of bytes gets the position behind all earlier reservations, and it may
/// be used when the counter reaches that position. Transfers that reserve small amounts repeatedly share the rate
/// evenly.
struct RateShaper: Sendable {
    /// Bytes since the queue was created.
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

    /// Returns a part of a reservation. Later reservations keep their positions.
    mutating func refund(_ count: Int) {
        queueEnd -= Double(count)
    }

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
