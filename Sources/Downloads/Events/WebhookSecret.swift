import Foundation

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

/// A secret that was replaced. Consumers are not all told of the new one in the same moment, so both sign for a while.
public struct FormerSecret: Sendable, Equatable {
    public let secret: WebhookSecret
    /// The last moment in which it signs.
    public let until: Date

    public init(_ secret: WebhookSecret, until: Date) {
        self.secret = secret
        self.until = until
    }

    /// Seconds: a day.
    public static let lifetime: TimeInterval = 86_400
    /// However often somebody rotates: each signs every post, and makes its head longer.
    public static let most = 4
}

extension Webhook {
    /// What signs now: the secret, then those before it, newest first.
    public func secrets(at now: Date) -> [WebhookSecret] {
        [secret] + formerSecrets.filter { $0.until > now }.map(\.secret)
    }

    /// With another secret; the present one signs for a day more.
    public func rotating(to next: WebhookSecret, at now: Date) -> Webhook {
        var webhook = self
        webhook.secret = next
        let former = FormerSecret(secret, until: now.addingTimeInterval(FormerSecret.lifetime))
        webhook.formerSecrets = Array(([former] + formerSecrets.filter { $0.until > now }).prefix(FormerSecret.most))
        return webhook
    }
}
