import Foundation

/// What an endpoint's answer means.
public enum DeliveryOutcome: Sendable, Equatable {
    /// 2xx.
    case accepted
    /// Anything else, or nothing; nil: the schedule has no further try.
    /// `notBefore` is how long the endpoint asked to be left alone.
    case rejected(retryAt: Date?, notBefore: Date? = nil)
    /// 410: the endpoint wants no more, ever.
    case gone
}
