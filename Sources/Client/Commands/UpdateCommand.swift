import ArgumentParser

struct UpdateCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Changes what was asked for: a new link, credentials, a limit.",
        discussion: """
            A job that waits for a URL or for credentials goes on when it gets them. One that has failed takes them for \
            its next retry.

            EXAMPLES:
              fetchd update --from https://example.org/a.iso job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd update --rate-limit 500K --priority low job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd update --rate-limit none job_01HZX3K9V7Q2N4R8T6W0YB5CDE
            """)

    @Argument(help: "The job.", completion: .jobIDs)
    var id: String

    @Option(name: .customLong("from"), help: ArgumentHelp("Another URL of the same file.", valueName: "url"))
    var source: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Where the file goes; a folder where it ends with /.", valueName: "path"))
    var out: String?

    @Option(help: "What happens where a file is already.")
    var onConflict: ConflictArgument?

    @Option(
        name: [.customShort("H"), .long], parsing: .singleValue,
        help: ArgumentHelp(
            "A header to be sent; without a value, one to be left out; repeatable.", valueName: "name: value"))
    var header: [HeaderArgument] = []

    @OptionGroup(title: "Who asks")
    var credentials: CredentialOptions

    @Option(help: "Which goes first.")
    var priority: PriorityArgument?

    @Option(help: ArgumentHelp("Connections to the file, 1 to 16.", valueName: "n"))
    var connections: Int?

    @Option(help: ArgumentHelp("Bytes a second at most, such as 500K; or none.", valueName: "bytes"))
    var rateLimit: ByteLimit?

    @Option(help: ArgumentHelp("Not to begin earlier; or none.", valueName: "time"))
    var notBefore: String?

    @Option(help: ArgumentHelp("To have failed then, if it is not done; or none.", valueName: "time"))
    var deadline: String?

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let patch = try patch()
        guard !patch.isEmpty else {
            throw ClientError(
                .misused, "Nothing to change", "Say what to change, such as --from URL; see fetchd update --help.")
        }
        let answer = try await service.send("PATCH", RequestPath("jobs", id), JSONText.object(patch).bytes)
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        let job = try answer.document(JobDocument.self)
        try console.print("\(job.id) \(JobDescription.state(job))")
    }

    /// As a merge patch (RFC 7396): null takes a member away.
    private func patch() throws(ClientError) -> [(name: String, value: JSONText)] {
        var patch: [(name: String, value: JSONText)] = []
        func set(_ name: String, _ value: JSONText?) { if let value { patch.append((name, value)) } }
        set("url", source.map(JSONText.string))
        set("destination", NewDestination(path: out, onConflict: onConflict).map { JSONText(JSONText.written($0)) })
        set(
            "headers",
            header.isEmpty ? nil : .object(header.map { ($0.name, $0.value.isEmpty ? .null : .string($0.value)) }))
        set("credentials", try credentials.document())
        set("priority", priority.map { .string($0.rawValue) })
        set("connections", connections.map { JSONText(JSONText.written($0)) })
        set("rate_limit_bytes_per_second", rateLimit.map { $0.count.map { JSONText(JSONText.written($0)) } ?? .null })
        set("not_before", notBefore.map { $0 == "none" ? .null : .string($0) })
        set("deadline", deadline.map { $0 == "none" ? .null : .string($0) })
        return patch
    }
}

/// Who asks, for servers that want to know. Secrets come from files: command lines can be read by others.
struct CredentialOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A user's name, for basic and digest authentication.", valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp("A file with the password; - reads standard input.", valueName: "file"), completion: .file())
    var passwordFile: String?

    @Flag(help: "Digest authentication instead of basic.")
    var digest = false

    @Option(
        help: ArgumentHelp("A file with a bearer token; - reads standard input.", valueName: "file"),
        completion: .file())
    var bearerFile: String?

    func validate() throws {
        if user != nil, bearerFile != nil { throw ValidationError("Give a user or a bearer token, not both.") }
        if (user == nil) != (passwordFile == nil) {
            throw ValidationError("--user and --password-file belong together.")
        }
    }

    func document() throws(ClientError) -> JSONText? {
        if let bearerFile {
            return .object([("type", .string("bearer")), ("token", .string(try SecretFile.line(of: bearerFile)))])
        }
        guard let user, let passwordFile else { return nil }
        return .object([
            ("type", .string(digest ? "digest" : "basic")), ("username", .string(user)),
            ("password", .string(try SecretFile.line(of: passwordFile))),
        ])
    }
}
