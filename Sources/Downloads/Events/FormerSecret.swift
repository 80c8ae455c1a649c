import Foundation

/// A secret that was replaced. Consumers do not switch to the new secret at the same moment, so both sign for a while.
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
    /// The limit of former secrets: each of them signs every post, which makes the request head longer.
    public static let most = 4
}
