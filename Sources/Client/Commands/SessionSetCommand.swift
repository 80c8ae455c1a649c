import ArgumentParser
import Formats
import Foundation

struct SessionSetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Creates a session, or changes its configuration.",
        discussion: """
            You can repeat the command: the same name is the same session. An existing session keeps the settings that are not \
            given. --configuration accepts every member of the API (see /openapi.yaml), and null sets a member to its \
            default; the other options take precedence over the file.

            EXAMPLES:
              fetchd session set photos
              fetchd session set photos --directory photos --max-concurrent-jobs 2
              fetchd session set photos --configuration - <<< '{"directory": null}'
            """)

    @Argument(help: "The name of the session.", completion: .sessionNames)
    var name: String

    @Option(
        help: ArgumentHelp("A file with the configuration as JSON; - reads standard input.", valueName: "file"),
        completion: .file())
    var configuration: String?

    @Option(help: ArgumentHelp("The folder for its files, relative to the downloads folder.", valueName: "path"))
    var directory: String?

    @Option(help: ArgumentHelp("The maximum number of running jobs.", valueName: "n"))
    var maxConcurrentJobs: Int?

    @Option(help: ArgumentHelp("Connections for each file, 1 to 16.", valueName: "n"))
    var connections: Int?

    @Option(
        help: ArgumentHelp(
            "The maximum rate of all its transfers together, in bytes per second, such as 2M.", valueName: "bytes"))
    var rateLimit: ByteCount?

    @Option(
        help: ArgumentHelp(
            "The maximum size of its finished files and the parts of its outstanding jobs together, in bytes, such as 20G.",
            valueName: "bytes"))
    var maxTotalSize: ByteCount?

    @Option(help: "Jobs with a higher priority start first.")
    var priority: PriorityArgument?

    @Option(help: "The action if a file already exists.")
    var onConflict: ConflictArgument?

    @Option(parsing: .singleValue, help: "Wait instead of failing if a download lacks this; repeatable.")
    var waitFor: [HelpArgument] = []

    @Option(
        help:
            "Whether a finished batch waits for an acknowledgement; derived: once a webhook is declared or a client has acknowledged."
    )
    var acknowledgement: AcknowledgementArgument?

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try SessionDescription.show(await answer(of: service), console)
    }

    private func answer(of service: RemoteService) async throws -> Answer {
        let path = RequestPath("sessions", name)
        guard let body = try document() else { return try await service.send("PUT", path) }
        do {
            return try await service.send("PATCH", path, body)
        } catch  where error.problem?.status == 404 {
            return try await service.send("PUT", path, body)
        }
    }

    /// - Returns: nil: attach to the session without changing its configuration.
    private func document() throws(ClientError) -> [UInt8]? {
        var members = try configuration.map { file throws(ClientError) in try Self.members(in: file) } ?? []
        func set(_ name: String, _ value: JSONText?) {
            guard let value else { return }
            members.removeAll { $0.name == name }
            members.append((name, value))
        }
        set("directory", directory.map(JSONText.string))
        set("max_concurrent_jobs", maxConcurrentJobs.map { JSONText(JSONText.written($0)) })
        set("connections", connections.map { JSONText(JSONText.written($0)) })
        set("rate_limit_bytes_per_second", rateLimit.map { JSONText(JSONText.written($0.count)) })
        set("max_total_size", maxTotalSize.map { JSONText(JSONText.written($0.count)) })
        set("priority", priority.map { .string($0.rawValue) })
        set("on_conflict", onConflict.map { .string($0.rawValue) })
        set("acknowledgement", acknowledgement.map(\.member))
        set("wait_for", waitFor.isEmpty ? nil : .array(waitFor.map { .string($0.rawValue) }))
        return members.isEmpty && configuration == nil ? nil : JSONText.object(members).bytes
    }

    private static func members(in file: String) throws(ClientError) -> [(name: String, value: JSONText)] {
        let bytes = try InputFile.bytes(of: file)
        guard let members = (try? JSON(parsing: bytes))?.objectValue?.members else {
            throw ClientError(
                .refused, "The configuration is not a JSON object",
                "The configuration must be a JSON object, such as {\"max_concurrent_jobs\": 2}.")
        }
        return members.map { ($0.name, JSONText($0.value)) }
    }
}

enum AcknowledgementArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case expected
    case unexpected = "none"
    case derived

    /// The member of the configuration.
    fileprivate var member: JSONText {
        switch self {
        case .expected, .unexpected: .string(rawValue)
        case .derived: JSONText(JSON.null)
        }
    }
}
