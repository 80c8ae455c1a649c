import Foundation

/// What waits in the store, for metrics.
public struct StoreBacklog: Sendable, Equatable {
    /// When the oldest job was created that could start if a slot were free; nil if there is none.
    public var oldestQueued: Date?
    /// When the oldest event was appended that has not been delivered to a webhook; nil if there is none.
    public var oldestDelivery: Date?
    /// The parts of all jobs, and their durable bytes.
    public var parts: Int
    public var partBytes: Int64
}
