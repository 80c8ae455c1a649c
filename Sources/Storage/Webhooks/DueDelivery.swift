import Downloads

/// A delivery that is to be attempted now, with all that it takes.
public struct DueDelivery: Sendable {
    public var id: DeliveryID
    public var webhook: Webhook
    public var event: Event
    /// Attempts since the delivery was made or last asked for.
    public var tries: Int
    /// How often the delivery had been asked for when this was read, the first time included.
    public var requests: Int
}
