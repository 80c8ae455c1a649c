import Foundation

/// The delivery of an event to a webhook.
public struct Delivery: Sendable, Equatable {
    public let id: DeliveryID
    public let webhook: Name
    public let session: Name
    public let event: EventID
    public let type: EventType
    public var state: State
    public var attempts: [Attempt]
    /// A pending finish is not sent before this delivery of an earlier event is settled; nil for every other delivery.
    public var blockedBy: DeliveryID?

    public enum State: Sendable, Equatable {
        case pending(next: Date)
        /// The endpoint answered 2xx.
        case acknowledged
        /// Every attempt of the schedule failed.
        case exhausted
        /// The webhook was deleted or disabled before its endpoint acknowledged the delivery.
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
        /// The beginning of the response body, to help people find the cause of a failure.
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
        attempts: [Attempt], blockedBy: DeliveryID? = nil
    ) {
        self.id = id
        self.webhook = webhook
        self.session = session
        self.event = event
        self.type = type
        self.state = state
        self.attempts = attempts
        self.blockedBy = blockedBy
    }

    /// When fetchd attempts the delivery; nil if it is settled, or waits for another delivery.
    public var nextAttemptAt: Date? {
        if case .pending(let next) = state, blockedBy == nil { next } else { nil }
    }
}
