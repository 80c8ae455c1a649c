import Formats
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
    public var format = WebhookFormat.standard
    /// How requests are signed; at least one.
    public var signatures = [WebhookSignatureScheme.v1]
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

    /// Whether requests reach the endpoint in the same way as those of `other`. If not, one can fail where the other works.
    public func reaches(asDoes other: Webhook) -> Bool {
        url == other.url && headers == other.headers && tls == other.tls && reach == other.reach
    }
}

/// The form of the bodies of requests.
public enum WebhookFormat: String, Sendable, CaseIterable {
    /// Standard Webhooks 1.0.0.
    case standard
    /// CloudEvents 1.0.2 in its structured form, so that the signature covers all of it.
    case cloudevents

    public var mediaType: String {
        switch self {
        case .standard: "application/json"
        case .cloudevents: "application/cloudevents+json"
        }
    }
}

/// How a request to a webhook is signed (Standard Webhooks 1.0.0).
public enum WebhookSignatureScheme: String, Sendable, CaseIterable {
    /// With the secret of the webhook: HMAC-SHA256.
    case v1
    /// With the private key of the service: Ed25519.
    case v1a
}

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

extension Webhook.State {
    /// Seconds of continuous failure after which fetchd disables a webhook: five days, as Standard Webhooks 1.0.0 recommends.
    public static let longestFailure: TimeInterval = 5 * 86_400

    /// Seconds. Failures within this time can have one cause, which may be at fetchd: after a week in which fetchd did not
    /// run, the first attempts can fail because its network is not ready. They do not disable a webhook.
    public static let timeOfOneOutage: TimeInterval = 3_600

    /// The state after a signal; nil if the signal has no effect.
    public func transition(on signal: WebhookSignal) -> Webhook.State? {
        switch (self, signal) {
        case (.enabled(nil), .accepted), (.enabled(nil), .enableRequested), (.disabled, .accepted),
            (.disabled, .rejected), (.disabled, .goneAnswered), (.disabled, .secretsLost):
            nil
        case (.enabled, .accepted), (.enabled, .enableRequested), (.disabled, .enableRequested):
            .enabled(failingSince: nil)
        case (.enabled(nil), .rejected(let now, _)): .enabled(failingSince: now)
        case (.enabled, .rejected(_, wasTried: false)): nil
        case (.enabled(let since?), .rejected(let now, wasTried: true)): Self.failing(since: since, now: now)
        case (.enabled, .goneAnswered): .disabled(reason: "The endpoint answered 410: it is gone.")
        case (.enabled, .secretsLost): .disabled(reason: "The key that sealed its secrets is lost.")
        }
    }

    private static func failing(since: Date, now: Date) -> Webhook.State? {
        guard now.timeIntervalSince(since) >= longestFailure else { return nil }
        return .disabled(reason: "Every attempt failed for five days, since \(since.rfc3339).")
    }

    public enum Kind: String, Sendable, CaseIterable { case enabled, disabled }

    public var name: Kind {
        switch self {
        case .enabled: .enabled
        case .disabled: .disabled
        }
    }

    public var reason: String? { if case .disabled(let reason) = self { reason } else { nil } }
    public var failingSince: Date? { if case .enabled(let since) = self { since } else { nil } }
}

/// The addresses to which a webhook may be posted.
public enum WebhookReach: String, Sendable, CaseIterable {
    /// All addresses: a receiver often runs on the same machine or in the same network.
    case any
    /// Public addresses, and the networks of `--allow-webhook-network`.
    case `public`
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

    /// 32 bytes from the random number generator of the system.
    public static func random() -> WebhookSecret { WebhookSecret(key: Data([UInt8].random(count: 32))) }

    private init(key: Data) {
        text = Self.prefix + key.base64EncodedString()
        self.key = key
    }

    private static let prefix = "whsec_"
}

/// A replaced secret. Consumers do not switch to the new secret at the same moment, so for some time both secrets sign.
public struct FormerSecret: Sendable, Equatable {
    public let secret: WebhookSecret
    public let until: Date

    public init(_ secret: WebhookSecret, until: Date) {
        self.secret = secret
        self.until = until
    }

    /// The seconds for which a replaced secret still signs: a day.
    public static let lifetime: TimeInterval = 86_400
    /// The maximum number of former secrets. Each of them signs every request, which makes the request head longer.
    public static let most = 4
}

extension Webhook {
    /// The secrets that sign at this time: the present one, then the former ones, newest first.
    public func secrets(at now: Date) -> [WebhookSecret] {
        [secret].compactMap(\.self) + formerSecrets.filter { $0.until > now }.map(\.secret)
    }

    /// Replaces the secret. The present one signs for one more day.
    public func rotating(to next: WebhookSecret, at now: Date) -> Webhook {
        var webhook = self
        webhook.secret = next
        webhook.lost.remove(.secret)
        let former = secret.map { FormerSecret($0, until: now.addingTimeInterval(FormerSecret.lifetime)) }
        let signing = [former].compactMap(\.self) + formerSecrets.filter { $0.until > now }
        webhook.formerSecrets = Array(signing.prefix(FormerSecret.most))
        return webhook
    }
}
