import Formats
import Foundation
import HTTPSemantics

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
        case exhausted
        /// The webhook was deleted or disabled before its endpoint acknowledged the delivery.
        case cancelled

        public enum Kind: String, Sendable, CaseIterable { case pending, acknowledged, exhausted, cancelled }

        public var name: Kind {
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
        /// nil for an attempt of an earlier version.
        public var exchange: Exchange?

        public init(
            at: Date, status: Int?, error: String?, latencySeconds: Double, response: String?,
            exchange: Exchange? = nil
        ) {
            self.at = at
            self.status = status
            self.error = error
            self.latencySeconds = latencySeconds
            self.response = response
            self.exchange = exchange
        }
    }

    /// The heads of a request as it was sent, and of its answer. Secrets are left out; the body is that of the event.
    public struct Exchange: Sendable, Equatable, Codable {
        /// Without user and query.
        public var url: String
        public var request: [HeaderField]
        /// nil without an answer, or if it may not be shown.
        public var answer: [HeaderField]?

        public init(url: String, request: [HeaderField], answer: [HeaderField]?) {
            self.url = url
            self.request = request
            self.answer = answer
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

/// The state machine of a delivery: a pure function of state and signal. docs/job-lifecycle.md contains the table.
extension Delivery.State {
    /// The state after a signal; nil if the signal has no effect.
    public func transition(on signal: DeliverySignal) -> Delivery.State? {
        switch (signal, self) {
        // A 2xx also counts after fetchd has given the delivery up, because the event has arrived.
        case (.accepted, .pending), (.accepted, .exhausted), (.accepted, .cancelled): .acknowledged
        case (.rejected(let retryAt), .pending): retryAt.map(Delivery.State.pending) ?? .exhausted
        case (.withdrawn, .pending): .cancelled
        case (.redeliveryRequested(let date), _): .pending(next: date)
        case (.accepted, .acknowledged), (.rejected, _), (.withdrawn, _): nil
        }
    }
}

/// A delivery's identifier: `dlv_` and a ULID. It is sent as `webhook-id`, so it contains no `.` (Standard Webhooks 1.0.0).
public struct DeliveryID: Sendable, Hashable, CustomStringConvertible {
    public let text: String
    public init(_ text: String) { self.text = text }
    public static func make(_ ulid: ULID) -> DeliveryID { DeliveryID("dlv_\(ulid)") }
    public var description: String { text }
}
