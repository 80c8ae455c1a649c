import Downloads

/// How much of everything there is, for metrics.
public struct StoreStatistics: Sendable, Equatable {
    public var jobs: [JobState.Name: Int]
    public var sessions: Int
    public var webhooks: [Webhook.State.Name: Int]
    public var pendingDeliveries: Int
    /// Settled ones, as long as the journal remembers them.
    public var settledDeliveries: [Delivery.State.Name: Int]
    public var lastEvent: EventID
    public var unacknowledgedFinishes: Int
}
