import Foundation

/// How long the journal remembers, in seconds.
public struct Retention: Sendable, Equatable {
    /// Events whose batch was acknowledged, by its webhooks or by the call.
    public var acknowledged: TimeInterval
    /// All others, and deliveries that are pending still.
    public var unacknowledged: TimeInterval

    public init(acknowledged: TimeInterval = 7 * 86_400, unacknowledged: TimeInterval = 30 * 86_400) {
        self.acknowledged = acknowledged
        self.unacknowledged = max(acknowledged, unacknowledged)
    }
}
