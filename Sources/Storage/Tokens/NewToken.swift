import Downloads
import Foundation

/// A token to be created.
public struct NewToken: Sendable {
    public var name: Name?
    public var grant: Grant
    public var expiresAt: Date?

    public init(name: Name? = nil, grant: Grant, expiresAt: Date? = nil) {
        self.name = name
        self.grant = grant
        self.expiresAt = expiresAt
    }
}
