import Foundation

/// A named group of jobs with one configuration. Clients return to a session by its name.
public struct Session: Sendable, Equatable {
    public let id: Name
    public var configuration: SessionConfiguration
    /// Grows with each change of the configuration. A session that is declared again after its deletion begins with another
    /// number.
    public var revision: Int
    /// Whether a consumer exists that can acknowledge finishes: a webhook is or was declared, or a client has acknowledged one.
    public var hasConsumer: Bool
    /// A client has deleted the session. It accepts no more jobs. fetchd removes it when its last batch has finished
    /// and its deliveries are settled.
    public var isFinishing: Bool
    public let createdAt: Date

    public init(
        id: Name, configuration: SessionConfiguration, revision: Int = 0, hasConsumer: Bool = false,
        isFinishing: Bool = false, createdAt: Date
    ) {
        self.id = id
        self.configuration = configuration
        self.revision = revision
        self.hasConsumer = hasConsumer
        self.isFinishing = isFinishing
        self.createdAt = createdAt
    }

    /// Whether a finish waits for an acknowledgement.
    public var expectsAcknowledgement: Bool { configuration.acknowledgement.map { $0 == .expected } ?? hasConsumer }
}

/// Whether the finishes of a session wait for an acknowledgement.
public enum Acknowledgement: String, Sendable, Codable, CaseIterable {
    case expected
    case unexpected = "none"
}
