import Foundation

/// The bytes that arrived in each interval of the last five minutes.
struct ThroughputHistory: Sendable {
    /// Seconds.
    static let interval = 5
    /// The number of intervals that are kept.
    static let most = 60

    /// By interval; the present one has a place as well. Interval N begins N times `interval` after the start of the
    /// machine.
    private var bytes = [Int64](repeating: 0, count: most + 1)
    private var present = 0

    mutating func add(_ count: Int64, at now: Duration) {
        advance(to: now)
        bytes[present % bytes.count] += count
    }

    /// Bytes per second in each complete interval, oldest first.
    ///
    /// - Parameter start: intervals that began earlier are left out.
    mutating func rates(at now: Duration, since start: Duration) -> [Int64] {
        advance(to: now)
        let first = max(present - Self.most, Self.number(start) + 1)
        guard first < present else { return [] }
        return (first..<present).map { bytes[$0 % bytes.count] / Int64(Self.interval) }
    }

    private mutating func advance(to now: Duration) {
        let next = Self.number(now)
        guard next > present else { return }
        for number in max(present + 1, next - Self.most)...next { bytes[number % bytes.count] = 0 }
        present = next
    }

    private static func number(_ moment: Duration) -> Int { Int(moment.components.seconds) / interval }
}
