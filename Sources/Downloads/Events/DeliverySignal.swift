import Foundation

/// A signal to the state machine of a delivery.
public enum DeliverySignal: Sendable, Equatable {
    /// The endpoint answered 2xx.
    case accepted
    /// The endpoint sent another status, or no response. `retryAt` is the time of the next attempt; nil if the schedule
    /// has none left.
    case rejected(retryAt: Date?)
    /// The webhook of the delivery was deleted or disabled.
    case withdrawn
    /// A client asked to send the event again. The delivery may be in any state.
    case redeliveryRequested(at: Date)
}
