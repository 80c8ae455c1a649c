import Foundation

/// An endpoint that a session's events are posted to, at least once.
public struct Webhook: Sendable, Equatable {
    /// Internal: a webhook that is deleted and declared again under its name is another one.
    public let key: Int64
    public let session: Name
    public let name: Name
    public var url: String
    public var events: [EventPattern]
    public var secret: WebhookSecret
    /// Secrets that were replaced by `rotate-secret`; each still signs for a while.
    public var formerSecrets: [FormerSecret]
    public var state: State
    public let createdAt: Date

    public enum State: Sendable, Equatable {
        /// `failingSince`: nothing was accepted since that attempt; nil after a 2xx, and at the beginning.
        case enabled(failingSince: Date? = nil)
        case disabled(reason: String)
    }

    public static let defaultEvents = [EventPattern(trusted: "session.*")]

    public init(
        key: Int64, session: Name, name: Name, url: String, events: [EventPattern], secret: WebhookSecret,
        formerSecrets: [FormerSecret] = [], state: State, createdAt: Date
    ) {
        self.key = key
        self.session = session
        self.name = name
        self.url = url
        self.events = events
        self.secret = secret
        self.formerSecrets = formerSecrets
        self.state = state
        self.createdAt = createdAt
    }
}
