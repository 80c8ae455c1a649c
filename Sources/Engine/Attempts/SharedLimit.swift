import CurlClient

/// A rate limit of a session or of the service, of which this node uses a part while other nodes have transfers under the
/// same limit.
struct SharedLimit: Sendable {
    /// What the transfers of this node share.
    let limit: RateLimit
    /// Bytes per second of all nodes together; nil: no limit.
    private(set) var whole: Int64?
    /// The attempts of this node under the limit.
    var attempts = 0

    init(limit: RateLimit, whole: Int64? = nil) { (self.limit, self.whole) = (limit, whole) }

    /// - Parameter share: the part of this node, from 0 to 1. nil: the whole limit. 0, too: the
    ///   attempts of this node are not counted yet.
    mutating func set(_ whole: Int64?, _ share: Double?) {
        self.whole = whole
        limit.bytesPerSecond = whole.map { max(1, Int64(Double($0) * (share.flatMap { $0 > 0 ? $0 : nil } ?? 1))) }
    }
}
