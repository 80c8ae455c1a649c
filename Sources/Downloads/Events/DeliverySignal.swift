import Foundation

/// What can happen to a delivery.
public enum DeliverySignal: Sendable, Equatable {
    /// The endpoint answered 2xx.
    case accepted
    /// It answered anything else, or nothing. `retryAt` is the next try; nil when the schedule has none left.
    case rejected(retryAt: Date?)
    /// Its webhook was deleted or disabled.
    case withdrawn
    /// Somebody wants it sent, whatever became of it before; or its endpoint is there again.
    case redeliveryRequested(at: Date)
}
