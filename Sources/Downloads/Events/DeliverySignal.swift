import Foundation

/// What can happen to a delivery.
public enum DeliverySignal: Sendable, Equatable {
    /// The endpoint answered 2xx.
    case accepted
    /// It answered anything else, or nothing. `retryAt` is the next try; nil when the schedule has none left.
    case rejected(retryAt: Date?)
    /// Its webhook was deleted or disabled.
    case withdrawn
    /// A client asks to send the event again, in any state of the delivery; or its endpoint answers again.
    case redeliveryRequested(at: Date)
}
