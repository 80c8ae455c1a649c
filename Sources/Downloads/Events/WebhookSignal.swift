import Foundation

/// A signal to the state machine of a webhook.
public enum WebhookSignal: Sendable, Equatable {
    case accepted
    case rejected(at: Date)
    /// The endpoint answered 410: it refuses all further events.
    case goneAnswered
    case enableRequested
    /// The key that sealed members of the webhook is lost.
    case secretsLost
}
