import Downloads
import Locks
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
