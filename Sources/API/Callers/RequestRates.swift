import Base
import Downloads
import Storage

/// Limits the requests of tokens that have such a quota. It is not stored: after a restart, every bucket is full.
final class RequestRates: Sendable {
    private let buckets = Locked<[TokenID: TokenBucket]>([:])
    private let time: any TimeSource

    init(time: any TimeSource) { self.time = time }

    /// - Throws: 429.
    func check(_ caller: Caller) throws(Problem) {
        guard let token = caller.token, let limit = token.quotas.requestsPerSecond else { return }
        let now = time.uptime
        let wait = buckets.withLock { buckets in
            // Tokens that were revoked leave their buckets behind.
            if buckets.count >= Self.mostBuckets { buckets.removeAll() }
            return buckets[token.id, default: TokenBucket(limit: limit, at: now)].take(limit: limit, at: now)
        }
        if let wait { throw Problem(.requestsPerSecond(limit: limit, seconds: wait)) }
    }

    private static let mostBuckets = 10_000
}

/// The requests that a token may still send: it holds those of one second at most, and fills steadily.
struct TokenBucket: Sendable {
    private var left: Double
    private var filledAt: Duration

    /// A full bucket.
    ///
    /// - Parameter uptime: the present time of a clock that never jumps.
    init(limit: Int, at uptime: Duration) {
        left = Double(limit)
        filledAt = uptime
    }

    /// Takes a request.
    ///
    /// - Parameter limit: requests a second.
    /// - Returns: nil if the request is allowed; else the seconds until the next one is.
    mutating func take(limit: Int, at uptime: Duration) -> Double? {
        let gained = max(0, (uptime - filledAt) / .seconds(1)) * Double(limit)
        left = min(Double(limit), left + gained)
        filledAt = uptime
        guard left < 1 else {
            left -= 1
            return nil
        }
        return (1 - left) / Double(limit)
    }
}
