import Foundation

/// A permission to use the API. Its holder proves it with a secret, of which fetchd stores only a digest.
public struct Token: Sendable, Equatable {
    public let id: TokenID
    /// A label for people; nil without one. Several tokens can have the same.
    public var name: Name?
    public var grant: Grant
    public var quotas: TokenQuotas
    public let createdAt: Date
    /// From this time on the token is refused; nil: it does not expire.
    public var expiresAt: Date?
    /// When a request last used the token, at most a minute too early; nil: never.
    public var lastUsedAt: Date?
    /// Until when the previous secret is accepted, after a rotation with an overlap.
    public var formerSecretUntil: Date?

    public init(
        id: TokenID, name: Name?, grant: Grant, quotas: TokenQuotas = .none, createdAt: Date,
        expiresAt: Date? = nil, lastUsedAt: Date? = nil, formerSecretUntil: Date? = nil
    ) {
        self.id = id
        self.name = name
        self.grant = grant
        self.quotas = quotas
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.lastUsedAt = lastUsedAt
        self.formerSecretUntil = formerSecretUntil
    }

    /// - Parameter now: of the wall clock. After a jump ahead, a token expires early rather than late.
    public func isExpired(at now: Date) -> Bool { expiresAt.map { $0 <= now } ?? false }
}
