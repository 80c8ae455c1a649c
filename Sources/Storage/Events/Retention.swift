import Foundation

/// How long the journal keeps events, in seconds.
public struct Retention: Sendable, Equatable {
    /// For events that webhooks or an acknowledge request have acknowledged.
    public var acknowledged: TimeInterval
    /// For all other events, and for pending deliveries.
    public var unacknowledged: TimeInterval

    public init(acknowledged: TimeInterval = 7 * 86_400, unacknowledged: TimeInterval = 30 * 86_400) {
        self.acknowledged = acknowledged
        self.unacknowledged = max(acknowledged, unacknowledged)
    }
}
