import ArgumentParser
import Formats
import Foundation

struct UpdateCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "update", "Changes jobs: URL, credentials, limits or destination.",
        discussion: """
            A job that waits for a URL or for credentials continues when you set them. A failed job uses them in its next \
            retry. One request changes the priority, connections, rate limit and times of many jobs.
            """,
        examples: "update --from https://example.org/a.iso job_01HZX3K9V7Q2N4R8T6W0YB5CDE",
        "update --rate-limit 500K --priority low job_01HZX3K9V7Q2N4R8T6W0YB5CDE",
        "update --rate-limit none job_01HZX3K9V7Q2N4R8T6W0YB5CDE", "update --priority high --session photos")

    @OptionGroup var selection: JobSelection
    @Option("A new URL of the same file.", "url", name: .customLong("from")) var source: String?

    @Option(
        "The path of the file, relative to the folder of the location. A path that ends with / is a folder.",
        "path",
        name: .shortAndLong)
    var out: String?

    @Option("Another location of the file, as 'fetchd locations' lists it.", "name") var location: String?

    @Option("The action if the file already exists.") var onConflict: ConflictArgument?

    @Option(
        "A request header. Without a value, the header is removed. Repeatable.", "name: value",
        name: [.customShort("H"), .long])
    var header: [HeaderArgument] = []

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions
    @Option("Jobs with a higher priority start first.") var priority: PriorityArgument?
    @Option("Connections for the file, 1 to 16.", "n") var connections: Int?

    @Option("The maximum rate in bytes per second, such as 500K; or none.", "bytes")
    var rateLimit: Removable<ByteCount>?

    @Option("Start at this time or later; or none.", "time") var notBefore: Removable<MomentArgument>?

    @Option("Fail if the download has not ended at this time; or none.", "time")
    var deadline: Removable<MomentArgument>?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let patch = try patch()
        guard !patch.isEmpty else {
            throw ClientError(
                .misused, "Nothing to change", "Give a change, such as --from URL. See fetchd update --help.")
        }
        if let id = selection.ids.first, selection.ids.count == 1 {
            return try await console.print(
                service.send("PATCH", RequestPath("jobs", id), .object(patch)), as: .jobState)
        }
        try await service.requireSession(selection.session)
        var body = selection.members
        body["patch"] = .object(patch)
        let response = try await service.postOnce(RequestPath("jobs", "change"), .object(body))
        try console.print(response, participle: "changed", isOfIDs: !selection.ids.isEmpty)
    }

    /// - Returns: the members of a merge patch (RFC 7396). null removes a member.
    private func patch() throws(ClientError) -> JSONObject {
        var patch = JSONObject()
        patch.set("url", source)
        patch.set("destination", NewDestination(location: location, path: out, onConflict: onConflict)?.json)
        if !header.isEmpty {
            var headers = JSONObject()
            for header in header { headers[header.name] = header.value.isEmpty ? .null : .string(header.value) }
            patch["headers"] = .object(headers)
        }
        patch.set("credentials", try credentials.document())
        patch.set("priority", priority?.rawValue)
        patch.set("connections", connections)
        patch.set("rate_limit_bytes_per_second", rateLimit?.json { .integer($0.count) })
        patch.set("not_before", notBefore?.json { .string($0.time) })
        patch.set("deadline", deadline?.json { .string($0.time) })
        return patch
    }
}

/// Credentials for the server of the download. Secrets are read from files, because other users can read command lines.
struct CredentialOptions: ParsableArguments {
    @Option("The user name for basic or digest authentication.", "name") var user: String?
    @Option("A file with the password; - reads standard input.", "file", completion: .file()) var passwordFile: String?
    @Flag(help: "Use digest instead of basic authentication.") var digest = false

    @Option("A file with a bearer token; - reads standard input.", "file", completion: .file())
    var bearerFile: String?

    func validate() throws {
        if user != nil, bearerFile != nil { throw ValidationError("Give a user or a bearer token, not both.") }
        if (user == nil) != (passwordFile == nil) {
            throw ValidationError("--user requires --password-file, and --password-file requires --user.")
        }
    }

    func document() throws(ClientError) -> JSON? {
        if let bearerFile { return ["type": "bearer", "token": .string(try InputFile.firstLine(of: bearerFile))] }
        guard let user, let passwordFile else { return nil }
        return [
            "type": digest ? "digest" : "basic", "username": .string(user),
            "password": .string(try InputFile.firstLine(of: passwordFile)),
        ]
    }
}

// MARK: - Delete

struct DeleteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "delete", "Deletes jobs. Jobs that have not ended are cancelled first.",
        discussion:
            "With --state, --older-than or --all, one request deletes all jobs that match. The finished files stay, except with --files.",
        examples: "delete job_01HZX3K9V7Q2N4R8T6W0YB5CDE", "delete --files job_01HZX3K9V7Q2N4R8T6W0YB5CDE",
        "delete --state succeeded --older-than 7d", "delete --state failed --session photos", aliases: ["rm"])

    @Argument(help: "The identifiers of the jobs.", completion: .jobIDs) var ids: [String] = []
    @Option("All jobs in this state.") var state: JobStateArgument?

    @Option(
        "Only jobs that have ended before that: 90s, 15m, 12h, 7d or 4w ago, or a moment such as 2030-01-31 22:00.",
        "age")
    var olderThan: ExpiryArgument?

    @Option("Only jobs of this session.", "name", name: .shortAndLong, completion: .sessionNames) var session: String?
    @Flag(help: "All jobs, also those that have not ended.") var all = false

    @Flag(name: [.customLong("files"), .customLong("with-file")], help: "Also delete the finished files.")
    var files = false

    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        let isFiltered = state != nil || olderThan != nil
        guard [!ids.isEmpty, isFiltered, all].count(where: { $0 }) == 1 else {
            throw ValidationError("Give job identifiers; or --state, --older-than, or both; or --all.")
        }
        guard ids.isEmpty || session == nil else {
            throw ValidationError("Give job identifiers or --session, not both.")
        }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        guard ids.isEmpty else { return try await deleteEach(service, console) }
        try await service.requireSession(session)
        try console.print(
            try await service.postOnce(RequestPath("jobs", "remove"), selection), participle: "deleted")
    }

    private func deleteEach(_ service: RemoteService, _ console: Console) async throws {
        var deleted: [String] = []
        // The list is also printed if one of the deletions is refused.
        defer { if console.isJSON { try? console.print(["deleted": .strings(deleted)]) } }
        try await console.forEach(ids) { id in
            _ = try await service.send("DELETE", RequestPath("jobs", id).query("file", files ? "delete" : nil))
            deleted.append(id)
            if !console.isJSON { try console.print("\(id) deleted") }
        }
    }

    private var selection: JSON {
        let file: JSON = files ? "delete" : "keep"
        if all && session == nil { return ["all": true, "file": file] }
        var filter = JSONObject()
        filter.set("session", session)
        filter.set("state", state?.rawValue)
        filter.set("ended_before", olderThan?.time(before: Date()))
        return ["filter": .object(filter), "file": file]
    }
}

extension Console {
    /// Prints the result of an action on many jobs.
    ///
    /// - Parameters:
    ///   - participle: what was done to the jobs, such as `deleted`.
    ///   - isOfIDs: whether the user has named each job. If not, jobs whose state does not allow the action are none of those meant.
    /// - Throws: `ExitCode` if jobs were refused.
    fileprivate func print(_ response: Response, participle: String, isOfIDs: Bool = true) throws {
        if isJSON { try print(response.text) }
        var result = try response.document(ActionResult.self)
        if !isOfIDs, result.problems.allSatisfy({ $0.status == .conflicting }) {
            result.matched -= result.refused
            (result.refused, result.problems) = (0, [])
        }
        if !isJSON { try print(result, participle) }
        if let first = result.problems.first { throw ExitCode(first.status.rawValue) }
    }

    private func print(_ result: ActionResult, _ participle: String) throws {
        if result.matched == 0 { return say("No job matches. Nothing was \(participle).") }
        try print("\(DisplayFormat.count(result.changed, "job")) \(participle)")
        for problem in result.problems { say("\(problem.id) could not be \(participle): \(problem.code)") }
        if result.refused > result.problems.count { say("and \(result.refused - result.problems.count) more") }
    }
}

private struct ActionResult: Decodable, Sendable {
    var matched: Int
    var changed: Int
    var refused: Int
    /// The problems of the first jobs that were refused.
    var problems: [Refusal]

    struct Refusal: Decodable, Sendable {
        var id: String
        /// The last component of the problem's type.
        var code: String

        var status: CommandStatus {
            switch code {
            case "not-found": .missing
            case "internal-error": .broken
            default: .conflicting
            }
        }
    }
}
