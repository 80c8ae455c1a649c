import Foundation

/// The requests a second that a host that refuses without a word seems to allow. A value, like ``HostGate``.
///
/// After the first refusal it is 0.8 of the responses of the last second. At each further one, the *ceiling* is the rate at that moment,
/// and the rate halves. Then it grows: by 20 % a second up to 0.9 of the ceiling, where growth is safe, and by 2 % a second beyond.
/// Each refusal near the same ceiling halves the slow growth, so that a host with a fixed limit refuses fewer and fewer requests. A
/// rate far above the ceiling shows that the limit has risen.
public struct LearnedRate: Sendable, Equatable {
    /// Requests a second at the last refusal or at the last success that raised the rate.
    public var base: Double
    public var since: Duration
    /// The rate that was refused; nil before the second refusal.
    public var ceiling: Double?
    /// Refusals near the ceiling.
    public var repeated: Int

    public static let lowest = 0.2

    public init(base: Double, since: Duration, ceiling: Double? = nil, repeated: Int = 0) {
        self.base = base
        self.since = since
        self.ceiling = ceiling
        self.repeated = repeated
    }

    /// - Parameters:
    ///   - former: nil before the first refusal.
    ///   - served: the responses of the last second that were none.
    init(after former: LearnedRate?, at now: Duration, served: Int) {
        guard let former, !former.isPast(at: now) else {
            self.init(base: max(Self.lowest, 0.8 * Double(served)), since: now)
            return
        }
        let refused = former.rate(at: now)
        let isNear = former.ceiling.map { refused <= 1.25 * $0 } ?? false
        self.init(
            base: max(Self.lowest, refused / 2), since: now, ceiling: refused,
            repeated: isNear ? former.repeated + 1 : 0)
    }

    /// A response to a request that had started before the last refusal: the host has served more than was counted then.
    ///
    /// - Parameter served: the responses of the last second.
    mutating func recordLateSuccess(_ served: Int) {
        if ceiling == nil { base = max(base, 0.8 * Double(served)) }
    }

    public func rate(at now: Duration) -> Double {
        let seconds = max(0, (now - since).inSeconds)
        guard let ceiling else { return base * pow(Self.growth, seconds) }
        let safe = 0.9 * ceiling
        guard base < safe else { return slow(from: base, ceiling, seconds) }
        let recovery = log(safe / base) / log(Self.recovery)
        return seconds <= recovery
            ? base * pow(Self.recovery, seconds) : slow(from: safe, ceiling, seconds - recovery)
    }

    private static let growth = 1.02
    private static let recovery = 1.2

    private func slow(from start: Double, _ ceiling: Double, _ seconds: Double) -> Double {
        let rate = 1 + max(0.001, (Self.growth - 1) / exp2(Double(min(repeated, 20))))
        let far = 1.25 * ceiling
        let untilFar = log(max(1, far / start)) / log(rate)
        return seconds <= untilFar ? start * pow(rate, seconds) : far * pow(Self.growth, seconds - untilFar)
    }

    /// After an hour without a refusal the rate says nothing about the host any more.
    func isPast(at now: Duration) -> Bool { now - since > .seconds(3600) }
}

/// How many responses came within the last second, in tenths of it.
struct RecentCount: Sendable, Equatable {
    private var tenths: [Int] = Array(repeating: 0, count: 10)
    /// The tenth that was counted last, since the start of the machine.
    private var last: Int64 = 0

    mutating func add(at now: Duration) {
        let tenth = Self.tenth(of: now)
        for passed in 0..<min(10, max(0, tenth - last)) { tenths[Int((tenth - passed) % 10)] = 0 }
        last = max(last, tenth)
        tenths[Int(last % 10)] += 1
    }

    func count(at now: Duration) -> Int {
        let age = Self.tenth(of: now) - last
        guard age < 10 else { return 0 }
        return (0..<(10 - max(0, age))).reduce(0) { $0 + tenths[Int((last - $1 + 10) % 10)] }
    }

    private static func tenth(of time: Duration) -> Int64 { Int64(time.inSeconds * 10) }
}
