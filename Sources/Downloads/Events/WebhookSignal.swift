import Foundation

/// What an endpoint's answers say about the endpoint itself.
public enum WebhookSignal: Sendable, Equatable {
    case accepted
    case rejected(at: Date)
    /// 410: it wants no more, ever.
    case goneAnswered
    case enableRequested
}
