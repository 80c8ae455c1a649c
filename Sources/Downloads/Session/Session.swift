import Formats
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

/// The data of `session.waiting`: the jobs that need help, and the kind of help.
extension Session {
    /// The maximum number of jobs in the event, oldest first. The job list of the session contains all of them.
    public static let mostJobsAnnounced = 100

    /// - Parameters:
    ///   - counts: how many jobs wait for each kind of help.
    ///   - jobs: the oldest of these jobs, each with its wait.
    public static func waitingAnnouncement(_ counts: [Wait.Kind: Int], jobs: [(id: JobID, wait: Wait)]) -> JSONObject {
        [
            "counts": [
                "credentials": .count(counts[.credentials] ?? 0), "url": .count(counts[.url] ?? 0),
            ],
            "jobs": .array(
                jobs.map { job, wait in
                    [
                        "job": .string(job.text), "reason": .string(wait.name.rawValue),
                        "challenge": wait.challenge?.document ?? .null,
                    ]
                }),
        ]
    }
}

/// A session's or webhook's name: 1 to 128 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.
public struct Name: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text != ".", text != "..",
            text.utf8.allSatisfy({ $0.isASCIIAlphanumeric || "._-".utf8.contains($0) })
        else { return nil }
        self.text = text
    }

    /// Makes a name that was validated before it was stored.
    public init(trusted text: String) { self.text = text }

    public static let `default` = Name(trusted: "default")
    public var description: String { text }
}

extension Name: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(trusted: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
