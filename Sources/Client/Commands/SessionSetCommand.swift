import ArgumentParser
import Formats
import Foundation

struct SessionSetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Declares a session, or attaches to it again.",
        discussion: """
            As often as you like: the same name is the same session. Without options a session that is there is left as \
            it is. With options they are the whole configuration from then on: what is not named has its default again. \
            --configuration takes all that the API knows (see /openapi.yaml); options go before it.

            EXAMPLES:
              fetchd session set photos
              fetchd session set photos --directory photos --max-concurrent-jobs 2
            """)

    @Argument(help: "Its name.", completion: .sessionNames)
    var name: String

    @Option(
        help: ArgumentHelp("A file with the configuration as JSON; - reads standard input.", valueName: "file"),
        completion: .file())
    var configuration: String?

    @Option(help: ArgumentHelp("A folder for its files, below the downloads folder.", valueName: "path"))
    var directory: String?

    @Option(help: ArgumentHelp("Jobs of it that run at once.", valueName: "n"))
    var maxConcurrentJobs: Int?

    @Option(help: ArgumentHelp("Connections to one file, 1 to 16.", valueName: "n"))
    var connections: Int?

    @Option(help: ArgumentHelp("Bytes a second for all its transfers together, such as 2M.", valueName: "bytes"))
    var rateLimit: ByteCount?

    @Option(help: "Which goes first.")
    var priority: PriorityArgument?

    @Option(help: "What happens where a file is already.")
    var onConflict: ConflictArgument?

    @Option(parsing: .singleValue, help: "Wait for this instead of failing; repeatable.")
    var waitFor: [HelpArgument] = []

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let body = try document()
        let answer = try await service.send("PUT", RequestPath("sessions", name), body)
        try SessionDescription.show(answer, console)
    }

    /// nil: attach, and change nothing.
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
        set("priority", priority.map { .string($0.rawValue) })
        set("on_conflict", onConflict.map { .string($0.rawValue) })
        set("wait_for", waitFor.isEmpty ? nil : .array(waitFor.map { .string($0.rawValue) }))
        return members.isEmpty && configuration == nil ? nil : JSONText.object(members).bytes
    }

    private static func members(in file: String) throws(ClientError) -> [(name: String, value: JSONText)] {
        let bytes = try InputFile.bytes(of: file)
        guard let members = (try? JSON(parsing: bytes))?.objectValue?.members else {
            throw ClientError(
                .refused, "The configuration is no JSON",
                "The configuration must be a JSON object, such as {\"max_concurrent_jobs\": 2}.")
        }
        return members.map { ($0.name, JSONText($0.value)) }
    }
}
