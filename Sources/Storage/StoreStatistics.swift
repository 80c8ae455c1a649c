import Downloads

/// Counts for metrics.
public struct StoreStatistics: Sendable, Equatable {
    public var jobs: [JobState.Name: Int]
    public var sessions: Int
    public var webhooks: [Webhook.State.Name: Int]
    public var pendingDeliveries: Int
    /// Settled deliveries that were not pruned.
    public var settledDeliveries: [Delivery.State.Name: Int]
    public var lastEvent: EventID
    public var unacknowledgedFinishes: Int
}
