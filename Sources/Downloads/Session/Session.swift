import Foundation

/// A named group of jobs with one configuration; clients re-attach to it by its name.
public struct Session: Sendable, Equatable {
    public let id: Name
    public var configuration: SessionConfiguration
    /// Somebody has deleted it: it takes no more jobs, and is gone when everything it owes is settled.
    public var isFinishing: Bool
    public let createdAt: Date

    public init(id: Name, configuration: SessionConfiguration, isFinishing: Bool = false, createdAt: Date) {
        self.id = id
        self.configuration = configuration
        self.isFinishing = isFinishing
        self.createdAt = createdAt
    }
}
