import ArgumentParser
import Configuration
import Formats
import Foundation

/// `fetchd doctor`: looks for faults of a service.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Looks for faults of the service, its folders and its machine.",
        discussion: """
            The command checks the database, the files of unfinished downloads, the key, the folders and their permissions, \
            free space, limits, the clock, the rules for addresses, and whether the hosts of webhooks answer. For each \
            finding it says what to do. It changes nothing, and the service may run meanwhile. Run it as the user of the \
            service, with the settings of the service: its environment, or --config.

            A finding is ok, a warning, an error, or skipped: the command could not look at something, for example because \
            a folder does not exist.

            EXIT STATUS:
              0    no error was found; there may be warnings, and checks that were skipped
              1    at least one error was found

            EXAMPLES:
              fetchd doctor --data-dir /var/lib/fetchd/data --downloads-dir /var/lib/fetchd/downloads
              fetchd doctor --no-webhooks --json
            """)

    @OptionGroup var data: DataFolderOptions

    @Option(
        help: ArgumentHelp(
            "The folder for downloaded files; also FETCHD_DOWNLOADS_DIR or --config. (default: \(Setting.defaultText(.downloadsDir)))",
            valueName: "dir"))
    var downloadsDir: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Ask the hosts of webhooks whether they answer. Only addresses that the service may reach are asked.")
    var webhooks = true

    @Flag(help: "Check every page, constraint and reference of the database, which takes about as long as a backup.")
    var thorough = false

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() async throws {
        CoreDumps.disable()
        let findings: [Finding]
        do {
            findings = await Examination(
                settings: try settings(), checksEverything: thorough, asksWebhooks: webhooks
            ).run()
        } catch {
            findings = [.error(.configuration, "\(error)", "The service does not start with these settings.")]
        }
        print(json ? Self.document(findings).written : Self.report(findings))
        if findings.contains(where: { $0.level == .error }) { throw ExitCode.failure }
    }

    private func settings() throws -> ServiceSettings {
        var flags: [SettingName: JSON] = [:]
        if let dataDir = data.dataDir { flags[.dataDir] = .string(dataDir) }
        if let downloadsDir { flags[.downloadsDir] = .string(downloadsDir) }
        return try ServiceSettings(flags: flags, configFile: data.config)
    }

    static func document(_ findings: [Finding]) -> JSON {
        [
            "findings": .array(findings.map(\.json)),
            "skipped": .count(findings.count { $0.level == .skipped }),
            "warnings": .count(findings.count { $0.level == .warning }),
            "errors": .count(findings.count { $0.level == .error }),
        ]
    }

    static func report(_ findings: [Finding]) -> String {
        let lines = findings.flatMap { finding -> [String] in
            let level = finding.level.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
            let subject = finding.subject.rawValue.padding(toLength: 14, withPad: " ", startingAt: 0)
            let remedy = finding.remedy.map { [String(repeating: " ", count: 22) + "-> \($0)"] } ?? []
            return ["\(level)\(subject)\(finding.message)"] + remedy
        }
        let (warnings, errors) = (findings.count { $0.level == .warning }, findings.count { $0.level == .error })
        let skipped = findings.count { $0.level == .skipped }
        let sum = "\(errors) error\(errors == 1 ? "" : "s"), \(warnings) warning\(warnings == 1 ? "" : "s")"
        return (lines + [sum + (skipped == 0 ? "." : ", \(skipped) skipped.")]).joined(separator: "\n")
    }
}

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
