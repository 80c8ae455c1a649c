import ArgumentParser

struct UpdateCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Changes a job: its URL, credentials, limits or destination.",
        discussion: """
            A job that waits for a URL or for credentials continues when you set them. A failed job uses them in its next \
            retry.

            EXAMPLES:
              fetchd update --from https://example.org/a.iso job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd update --rate-limit 500K --priority low job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd update --rate-limit none job_01HZX3K9V7Q2N4R8T6W0YB5CDE
            """)

    @Argument(help: "The identifier of the job.", completion: .jobIDs)
    var id: String

    @Option(name: .customLong("from"), help: ArgumentHelp("A new URL of the same file.", valueName: "url"))
    var source: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The path of the file, relative to the service's downloads folder. A path that ends with / is a folder.",
            valueName: "path"))
    var out: String?

    @Option(help: "The action if the file already exists.")
    var onConflict: ConflictArgument?

    @Option(
        name: [.customShort("H"), .long], parsing: .singleValue,
        help: ArgumentHelp(
            "A request header. Without a value, the header is removed. Repeatable.", valueName: "name: value"))
    var header: [HeaderArgument] = []

    @OptionGroup(title: "Credentials")
    var credentials: CredentialOptions

    @Option(help: "Jobs with a higher priority start first.")
    var priority: PriorityArgument?

    @Option(help: ArgumentHelp("Connections for the file, 1 to 16.", valueName: "n"))
    var connections: Int?

    @Option(
        help: ArgumentHelp("The maximum rate in bytes per second, such as 500K; or none.", valueName: "bytes"))
    var rateLimit: ByteLimit?

    @Option(help: ArgumentHelp("Start at this time or later; or none.", valueName: "time"))
    var notBefore: MomentLimit?

    @Option(help: ArgumentHelp("Fail if the download has not ended at this time; or none.", valueName: "time"))
    var deadline: MomentLimit?

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let patch = try patch()
        guard !patch.isEmpty else {
            throw ClientError(
                .misused, "Nothing to change", "Give a change, such as --from URL. See fetchd update --help.")
        }
        let answer = try await service.send("PATCH", RequestPath("jobs", id), JSONText.object(patch).bytes)
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        let job = try answer.document(JobDocument.self)
        try console.print("\(job.id) \(JobDescription.state(job))")
    }

    /// - Returns: the members of a merge patch (RFC 7396). null removes a member.
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
        set("not_before", notBefore.map { $0.time.map(JSONText.string) ?? .null })
        set("deadline", deadline.map { $0.time.map(JSONText.string) ?? .null })
        return patch
    }
}
