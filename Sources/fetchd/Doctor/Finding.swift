import Formats

/// One result of `fetchd doctor`.
struct Finding: Sendable, Equatable {
    enum Level: String, Sendable {
        case ok, warning, error
        /// The command could not look at something.
        case skipped
    }

    /// The subject of a check: the first column of the report.
    enum Subject: String, Sendable {
        case configuration, service, folders, database, parts, key, space, limits, clock, addresses, webhooks
    }

    var level: Level
    var subject: Subject
    /// A sentence.
    var message: String
    /// What to do; nil if there is nothing to do.
    var remedy: String?

    static func ok(_ subject: Subject, _ message: String) -> Finding {
        Finding(level: .ok, subject: subject, message: message)
    }

    static func warning(_ subject: Subject, _ message: String, _ remedy: String) -> Finding {
        Finding(level: .warning, subject: subject, message: message, remedy: remedy)
    }

    static func error(_ subject: Subject, _ message: String, _ remedy: String) -> Finding {
        Finding(level: .error, subject: subject, message: message, remedy: remedy)
    }

    static func skipped(_ subject: Subject, _ message: String, _ remedy: String) -> Finding {
        Finding(level: .skipped, subject: subject, message: message, remedy: remedy)
    }

    /// The remedy for what the user of the command may not see.
    static let asUserOfService = "Run this command as the user of the service."

    var json: JSON {
        [
            "level": .string(level.rawValue), "check": .string(subject.rawValue), "message": .string(message),
            "remedy": .optional(remedy),
        ]
    }
}
