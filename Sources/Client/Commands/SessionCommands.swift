import ArgumentParser
import Formats
import Glibc

struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "session", "Declares and shows sessions, and controls all jobs of a session.",
        examples: "session set photos --max-concurrent-jobs 2 --directory photos", "session list",
        "session pause photos",
        subcommands: [
            ListSessions.command, ShowSession.command, SessionSetCommand.self, PauseSession.command,
            ResumeSession.command, CancelSession.command, SessionAcknowledgeCommand.self, SessionManifestCommand.self,
            SessionDeleteCommand.self,
        ])
}

struct SessionName: ParsableArguments {
    @Argument(help: "The session.", completion: .sessionNames) var name: String
}

enum ListSessions: ActionName {
    struct Operands: ParsableArguments {
        @Flag(name: .shortAndLong, help: "Print only names.") var quiet = false
    }

    static let action = Action<Operands>(
        "list", "Lists all sessions, by name.", examples: "session list", "session list --quiet", aliases: ["ls"]
    ) { operands, service, console in
        let response = try await service.send("GET", RequestPath("sessions"))
        try console.print(
            response.text, response.list("sessions"), onlyIDs: operands.quiet,
            columns: [
                .init("SESSION", "id"), .state, .init("BATCH", "batch", isRightAligned: true),
                .init("UNACKNOWLEDGED SINCE", .time("unacknowledged_since")), .init("JOBS", .jobCounts),
            ])
    }
}

enum ShowSession: ActionName {
    static let action = Action<SessionName>(
        "show", "Shows the state of a session.", examples: "session show photos", method: "GET",
        path: { RequestPath("sessions", $0.name) }, prints: .session)
}

enum PauseSession: ActionName {
    static let action = Action.control("pause", "Pauses all jobs of a session.")
}

enum ResumeSession: ActionName {
    static let action = Action.control("resume", "Resumes all jobs of a session.")
}

enum CancelSession: ActionName {
    static let action = Action.control("cancel", "Cancels all unfinished jobs of a session. The session stays.")
}

extension Action<SessionName> {
    fileprivate static func control(_ verb: String, _ abstract: String) -> Action {
        Action(
            verb, abstract, examples: "session \(verb) photos", method: "POST",
            path: { RequestPath("sessions", $0.name, verb) }, prints: .sessionCounts)
    }
}

struct SessionAcknowledgeCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "acknowledge", "Acknowledges the finished batches of a session.",
        discussion: "Acknowledges every finish up to the event of --through, or up to the session's last event.",
        examples: "session acknowledge photos")

    @OptionGroup var session: SessionName
    @Option("The number of an event. (default: the session's last)", "number") var through: Int64?
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let last =
            if let through { through } else {
                try await service.send("GET", RequestPath("sessions", session.name))
                    .document(SessionDocument.self).lastEvent
            }
        let path = RequestPath("sessions", session.name, "acknowledge")
        try await console.print(service.send("POST", path, ["through": .integer(last)]), as: .session)
    }
}

struct SessionDeleteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "delete", "Deletes a session. Downloaded files stay.",
        discussion: """
            The session takes no more jobs. Its unfinished jobs end first, or --cancel cancels them; then the session is \
            deleted.
            """,
        examples: "session delete photos", "session delete --cancel photos", aliases: ["rm"])

    @OptionGroup var session: SessionName
    @Flag(help: "Cancel the unfinished jobs.") var cancel = false
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = RequestPath("sessions", session.name).query("outstanding", cancel ? "cancel" : nil)
        let response = try await service.send("DELETE", path)
        try console.print(response, as: response.status == 202 ? .finishingSession : .done("deleted", session.name))
    }
}

struct SessionSetCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "set", "Creates a session, or changes its configuration.",
        discussion: """
            You can repeat the command: the same name is the same session. An existing session keeps the settings that are not \
            given. --configuration accepts every member of the API (see /openapi.yaml), and null sets a member to its \
            default; the other options take precedence over the file.
            """,
        examples: "session set photos", "session set photos --directory photos --max-concurrent-jobs 2",
        "session set photos --configuration - <<< '{\"directory\": null}'")

    @Argument(help: "The name of the session.", completion: .sessionNames) var name: String

    @Option("A file with the configuration as JSON; - reads standard input.", "file", completion: .file())
    var configuration: String?

    @Option("The location of its files, as 'fetchd locations' lists it.", "name") var location: String?
    @Option("The folder for its files, relative to that of the location.", "path") var directory: String?
    @Option("The maximum number of running jobs.", "n") var maxConcurrentJobs: Int?
    @Option("Connections for each file, 1 to 16.", "n") var connections: Int?

    @Option("The maximum rate of all its transfers together, in bytes per second, such as 2M.", "bytes")
    var rateLimit: ByteCount?

    @Option(
        "The maximum size of its finished files and the parts of its outstanding jobs together, in bytes, such as 20G.",
        "bytes")
    var maxTotalSize: ByteCount?

    @Option("Jobs with a higher priority start first.") var priority: PriorityArgument?
    @Option("The action if a file already exists.") var onConflict: ConflictArgument?
    @Option("Wait instead of failing if a download lacks this; repeatable.") var waitFor: [WaitForArgument] = []

    @Option(
        "Whether a finished batch waits for an acknowledgement; derived: once a webhook is declared or a client has acknowledged."
    )
    var acknowledgement: Acknowledgement?

    enum Acknowledgement: String, ExpressibleByArgument, CaseIterable, Sendable {
        case expected
        case unexpected = "none"
        case derived
    }

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try await console.print(declare(to: service), as: .session)
    }

    private func declare(to service: RemoteService) async throws -> Response {
        let path = RequestPath("sessions", name)
        // Without members, the command attaches to the session without changing its configuration.
        guard let members = try members() else { return try await service.send("PUT", path) }
        do {
            return try await service.send("PATCH", path, .object(members))
        } catch  where error.problem?.status == 404 {
            return try await service.send("PUT", path, .object(members))
        }
    }

    /// - Returns: the members to change; nil if no option is given.
    private func members() throws(ClientError) -> JSONObject? {
        var members = try configuration.map { file throws(ClientError) in try Self.members(in: file) } ?? JSONObject()
        if let location { members["destination"] = ["location": .string(location)] }
        members.set("directory", directory)
        members.set("max_concurrent_jobs", maxConcurrentJobs)
        members.set("connections", connections)
        members.set("rate_limit_bytes_per_second", rateLimit?.count)
        members.set("max_total_size", maxTotalSize?.count)
        members.set("priority", priority?.rawValue)
        members.set("on_conflict", onConflict?.rawValue)
        members.set("acknowledgement", acknowledgement.map { $0 == .derived ? .null : .string($0.rawValue) })
        members.set("wait_for", waitFor.map(\.rawValue))
        return members.isEmpty && configuration == nil ? nil : members
    }

    private static func members(in file: String) throws(ClientError) -> JSONObject {
        let bytes = try InputFile.bytes(of: file)
        guard let members = (try? JSON(parsing: bytes))?.objectValue else {
            throw ClientError(
                .refused, "The configuration is not a JSON object",
                "The configuration must be a JSON object, such as {\"max_concurrent_jobs\": 2}.")
        }
        return members
    }
}

// MARK: - The session

/// The members of a session that the commands use; others are only shown.
struct SessionDocument: Decodable, Sendable {
    var id: String
    var counts: [String: Int]
    var lastEvent: Int64

    var jobCounts: String {
        let texts = JobStateArgument.allCases.compactMap { state in
            counts[state.rawValue].flatMap { $0 > 0 ? "\($0) \(state.rawValue)" : nil }
        }
        return texts.isEmpty ? "no jobs" : texts.joined(separator: ", ")
    }

    var hasOutstandingJobs: Bool { ["queued", "running", "waiting", "paused"].contains { counts[$0] ?? 0 > 0 } }
}

extension Member {
    static let jobCounts = Member { (try? $0.decoded(SessionDocument.self))?.jobCounts }
}

extension Output {
    static let session = fields([
        "session": "id", "state": "state", "jobs": .jobCounts,
        "batch": .joined("batch", Member { $0.shown("finish_due_at").map { "finishes at \(DisplayFormat.time($0))" } }),
        "last event": "last_event",
        // Webhooks acknowledge without moving this number.
        "acknowledged": .number("acknowledged_through") {
            $0 > 0 ? "with session acknowledge, through event \(Int64($0))" : ""
        },
        "acknowledgement": "configuration.acknowledgement", "unacknowledged since": .time("unacknowledged_since"),
        "location": .location("configuration.destination.location"),
        "directory": "configuration.directory", "priority": "configuration.priority",
        "jobs at once": "configuration.max_concurrent_jobs",
        "rate limit": .number("configuration.rate_limit_bytes_per_second", DisplayFormat.rate),
        "total size": .number("configuration.max_total_size") { "at most \(DisplayFormat.bytes($0))" },
        "connections": "configuration.connections", "created": .time("created_at"),
    ])

    fileprivate static let finishingSession = line { (session: SessionDocument) in
        "\(session.id) is finishing: \(session.jobCounts). The service deletes it after its last batch and deliveries."
    }
}

struct SessionManifestCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "manifest", "Prints the finished files of a session with their digests.",
        discussion: """
            The format sha256sum is for 'sha256sum --check' in the folder of the location. The format tsv has the columns path, size, \
            sha256 and url, and 'fetchd import list' reads it. Files that were removed or replaced are left out.
            """,
        examples: "session manifest photos >SHA256SUMS", "session manifest --format tsv photos")

    @OptionGroup var session: SessionName

    @Option("The format: sha256sum or tsv. (default: sha256sum)", "format")
    var format: String?

    @Option("Only the files in this location. (default: all locations)", "name") var location: String?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = RequestPath("sessions", session.name, "manifest").query("format", format).query("location", location)
        let output = OutputDescriptor(number: STDOUT_FILENO, name: "Standard output")
        // The service looks at each file.
        _ = try await service.stream(service.request("GET", path, idle: .seconds(120))) { _ in
            true
        } chunk: { chunk in
            try chunk.withUnsafeBytes { try output.write($0) }
            return true
        }
    }
}
