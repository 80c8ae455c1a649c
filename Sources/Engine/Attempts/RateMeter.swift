import Formats
import Foundation

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
