import Downloads
import Foundation

/// A token to be created.
public struct NewToken: Sendable {
    public var name: Name?
    public var grant: Grant
    public var quotas: TokenQuotas
    public var expiresAt: Date?

    public init(name: Name? = nil, grant: Grant, quotas: TokenQuotas = .none, expiresAt: Date? = nil) {
        self.name = name
        self.grant = grant
        self.quotas = quotas
        self.expiresAt = expiresAt
    }
}
