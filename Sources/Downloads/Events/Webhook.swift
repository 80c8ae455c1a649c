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
    public var state: State
    public let createdAt: Date

    public enum State: Sendable, Equatable {
        case enabled
        case disabled(reason: String)

        public enum Name: String, Sendable, CaseIterable { case enabled, disabled }
        public var name: Name { self == .enabled ? .enabled : .disabled }
        public var reason: String? { if case .disabled(let reason) = self { reason } else { nil } }
    }

    public static let defaultEvents = [EventPattern(trusted: "session.*")]

    public init(
        key: Int64, session: Name, name: Name, url: String, events: [EventPattern], secret: WebhookSecret,
        state: State, createdAt: Date
    ) {
        self.key = key
        self.session = session
        self.name = name
        self.url = url
        self.events = events
        self.secret = secret
        self.state = state
        self.createdAt = createdAt
    }
}

/// A signing secret of Standard Webhooks 1.0.0: `whsec_` and the base64 of 24 to 64 bytes.
public struct WebhookSecret: Sendable, Equatable {
    public let text: String
    public let key: Data

    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let key = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            (24...64).contains(key.count)
        else { return nil }
        self.text = text
        self.key = key
    }

    /// 32 bytes of the system's randomness.
    public static func random() -> WebhookSecret {
        var random = SystemRandomNumberGenerator()
        let key = Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        return WebhookSecret(key: key)
    }

    private init(key: Data) {
        text = Self.prefix + key.base64EncodedString()
        self.key = key
    }

    private static let prefix = "whsec_"
}

/// An event on its way to a webhook.
public struct Delivery: Sendable, Equatable {
    public let id: DeliveryID
    public let webhook: Name
    public let session: Name
    public let event: EventID
    public let type: EventType
    public var state: State
    public var attempts: [Attempt]

    public enum State: Sendable, Equatable {
        case pending(next: Date)
        /// The endpoint answered 2xx.
        case acknowledged
        /// Every try of the schedule failed.
        case exhausted
        /// The webhook is gone or disabled.
        case cancelled

        public enum Name: String, Sendable, CaseIterable { case pending, acknowledged, exhausted, cancelled }

        public var name: Name {
            switch self {
            case .pending: .pending
            case .acknowledged: .acknowledged
            case .exhausted: .exhausted
            case .cancelled: .cancelled
            }
        }
    }

    public struct Attempt: Sendable, Equatable {
        public var at: Date
        public var status: Int?
        public var error: String?
        public var latencySeconds: Double
        /// The beginning of the answer's body, for people who look for the cause.
        public var response: String?

        public init(at: Date, status: Int?, error: String?, latencySeconds: Double, response: String?) {
            self.at = at
            self.status = status
            self.error = error
            self.latencySeconds = latencySeconds
            self.response = response
        }
    }

    public init(
        id: DeliveryID, webhook: Name, session: Name, event: EventID, type: EventType, state: State,
        attempts: [Attempt]
    ) {
        self.id = id
        self.webhook = webhook
        self.session = session
        self.event = event
        self.type = type
        self.state = state
        self.attempts = attempts
    }
}
