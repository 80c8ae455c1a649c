import Foundation

/// A signal to the state machine of a webhook.
public enum WebhookSignal: Sendable, Equatable {
    case accepted
    /// - Parameter wasTried: whether an attempt failed in the five days before this one, later than an hour after the first
    ///   failure, and earlier than an hour before this one.
    case rejected(at: Date, wasTried: Bool)
    /// The endpoint answered 410: it refuses all further events.
    case goneAnswered
    case enableRequested
    /// The key that sealed members of the webhook is lost.
    case secretsLost
}
