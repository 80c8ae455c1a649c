import Foundation

/// A named group of jobs with one configuration. Clients return to a session by its name.
public struct Session: Sendable, Equatable {
    public let id: Name
    public var configuration: SessionConfiguration
    /// A client has deleted the session. It accepts no more jobs. fetchd removes it when its last batch has finished
    /// and its deliveries are settled.
    public var isFinishing: Bool
    public let createdAt: Date

    public init(id: Name, configuration: SessionConfiguration, isFinishing: Bool = false, createdAt: Date) {
        self.id = id
        self.configuration = configuration
        self.isFinishing = isFinishing
        self.createdAt = createdAt
    }
}
