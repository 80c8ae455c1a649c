import Foundation

/// The meaning of an endpoint's response.
public enum DeliveryOutcome: Sendable, Equatable {
    /// The status was 2xx.
    case accepted
    /// Any other status, or no response. `retryAt` is nil when the schedule has no further attempt. `notBefore` is the
    /// earliest time that the endpoint allows.
    case rejected(retryAt: Date?, notBefore: Date? = nil)
    /// The status was 410: the endpoint wants no more events.
    case gone
}
