import Downloads
import HTTPSemantics

/// A delivery to attempt now, with its webhook and event.
public struct DueDelivery: Sendable {
    public var id: DeliveryID
    public var webhook: Webhook
    public var event: Event
    /// Attempts since the delivery was created or last requested.
    public var tries: Int
    /// How often the delivery had been requested when this was read, including the first time.
    public var requests: Int
    /// The trace of the event's job, or of the newest job of its session; nil if that job has none, or was deleted.
    public var trace: TraceContext?
}
