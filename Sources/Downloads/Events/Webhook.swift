import Foundation
import HTTPSemantics

/// An endpoint to which fetchd posts the events of a session, each at least once.
public struct Webhook: Sendable, Equatable {
    /// Internal. A webhook that is deleted and declared again under the same name gets another key.
    public let key: Int64
    public let session: Name
    public let name: Name
    public var url: String
    public var events: [EventPattern]
    /// Sent with every request, after fetchd's own headers. The values can be secret: no response or log shows them.
    public var headers: [HeaderField]
    public var tls: TLSRule
    public var reach: WebhookReach
    /// nil if the key that sealed the secret is lost.
    public var secret: WebhookSecret?
    /// Secrets that `rotate-secret` has replaced. Each of them still signs for a day.
    public var formerSecrets: [FormerSecret]
    public var state: State
    public let createdAt: Date
    /// The members that cannot be read any more, because the key that sealed them is lost. fetchd posts nothing to such a
    /// webhook.
    public var lost: Set<SecretMember>

    public enum State: Sendable, Equatable {
        /// `failingSince`: the endpoint has accepted nothing since that attempt; nil after a 2xx, and at the beginning.
        case enabled(failingSince: Date? = nil)
        case disabled(reason: String)
    }

    public static let defaultEvents = [EventPattern(trusted: "session.*")]

    public init(
        key: Int64, session: Name, name: Name, url: String, events: [EventPattern], headers: [HeaderField] = [],
        tls: TLSRule = TLSRule(), reach: WebhookReach = .any, secret: WebhookSecret?,
        formerSecrets: [FormerSecret] = [], state: State, createdAt: Date, lost: Set<SecretMember> = []
    ) {
        self.key = key
        self.session = session
        self.name = name
        self.url = url
        self.events = events
        self.headers = headers
        self.tls = tls
        self.reach = reach
        self.secret = secret
        self.formerSecrets = formerSecrets
        self.state = state
        self.createdAt = createdAt
        self.lost = lost
    }

    /// Whether requests reach the endpoint in the same way as those of `other`. If not, one can fail where the other
    /// works.
    public func reaches(asDoes other: Webhook) -> Bool {
        url == other.url && headers == other.headers && tls == other.tls && reach == other.reach
    }
}
