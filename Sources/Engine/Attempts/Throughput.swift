import Base
import Formats
import Foundation

final class ReceivedBytes: Sendable {
    private struct State {
        var total: Int64 = 0
        /// The bytes of `total` that the database has.
        var stored: Int64 = 0
        var history = ThroughputHistory()
    }

    private let state = Locked(State())

    var bytes: Int64 { state.withLock(\.total) }
    var unstored: Int64 { state.withLock { $0.total - $0.stored } }

    func recordStored(_ bytes: Int64) { state.withLock { $0.stored += bytes } }

    func add(_ bytes: Int64, at now: Duration) {
        state.withLock { state in
            state.total += bytes
            state.history.add(bytes, at: now)
        }
    }

    /// See `ThroughputHistory.rates`.
    func rates(at now: Duration, since start: Duration) -> [Int64] {
        state.withLock { $0.history.rates(at: now, since: start) }
    }
}

/// The bytes that arrived in each interval of the last five minutes.
struct ThroughputHistory: Sendable {
    /// Seconds.
    static let interval = 5
    static let most = 60

    /// The bytes of each interval, the present one included. Interval N begins N times `interval` after the start of the
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

/// Bytes per second, smoothed over the last few seconds.
struct RateMeter: Sendable {
    private var rate: Double?
    private var pending: Int64 = 0
    /// The uptime at which `rate` last included the pending bytes.
    private var since: Duration

    /// Seconds in which the weight of a sample falls to 1/e.
    private static let memory = 3.0
    private static let shortestSample = 0.25

    init(since: Duration) { self.since = since }

    mutating func add(_ bytes: Int64, at now: Duration) {
        pending += bytes
        fold(at: now)
    }

    /// nil before the first sample.
    mutating func rate(at now: Duration) -> Double? {
        fold(at: now)
        return rate
    }

    private mutating func fold(at now: Duration) {
        let elapsed = (now - since) / .seconds(1)
        guard elapsed >= Self.shortestSample else { return }
        let sample = Double(pending) / elapsed
        let kept = rate.map { _ in exp(-elapsed / Self.memory) } ?? 0
        rate = (rate ?? 0) * kept + sample * (1 - kept)
        pending = 0
        since = now
    }
}
