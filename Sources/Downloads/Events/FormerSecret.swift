import Foundation

/// A replaced secret. Consumers do not switch to the new secret at the same moment, so for some time both secrets sign.
public struct FormerSecret: Sendable, Equatable {
    public let secret: WebhookSecret
    /// The end of the time in which the secret signs.
    public let until: Date

    public init(_ secret: WebhookSecret, until: Date) {
        self.secret = secret
        self.until = until
    }

    /// Seconds for which a replaced secret still signs: a day.
    public static let lifetime: TimeInterval = 86_400
    /// The maximum number of former secrets. Each of them signs every request, which makes the request head longer.
    public static let most = 4
}
