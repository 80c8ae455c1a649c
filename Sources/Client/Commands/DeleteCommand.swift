import ArgumentParser
import Foundation

struct DeleteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes jobs. Jobs that have not ended are cancelled first.",
        discussion: """
            With --state, --older-than or --all, one request deletes all jobs that match. The finished files stay, except with --files.

            EXAMPLES:
              fetchd delete job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd delete --files job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd delete --state succeeded --older-than 7d
              fetchd delete --state failed --session photos
            """,
        aliases: ["rm"])

    @Argument(help: "The identifiers of the jobs.", completion: .jobIDs)
    var ids: [String] = []

    @Option(help: "All jobs in this state.")
    var state: JobStateArgument?

    @Option(
        help: ArgumentHelp(
            "Only jobs that have ended before that: 90s, 15m, 12h, 7d or 4w ago, or a moment such as 2030-01-31 22:00.",
            valueName: "age"))
    var olderThan: ExpiryArgument?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Only jobs of this session.", valueName: "name"),
        completion: .sessionNames)
    var session: String?

    @Flag(help: "All jobs, also those that have not ended.")
    var all = false

    @Flag(name: [.customLong("files"), .customLong("with-file")], help: "Also delete the finished files.")
    var files = false

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func validate() throws {
        let isFiltered = state != nil || olderThan != nil
        guard [!ids.isEmpty, isFiltered, all].count(where: { $0 }) == 1 else {
            throw ValidationError("Give job identifiers, --state and --older-than, or --all.")
        }
        guard ids.isEmpty || session == nil else {
            throw ValidationError("Give job identifiers or --session, not both.")
        }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        guard ids.isEmpty else { return try await deleteEach(service, console) }
        try await service.requireSession(session)
        let answer = try await removal.send(to: service)
        if console.isJSON {
            try console.print(JSONText(answer.body))
        } else {
            try tell(answer.document(ActionDocument.self), console)
        }
        if let first = try answer.document(ActionDocument.self).problems.first { throw ExitCode(first.status.rawValue) }
    }

    private func deleteEach(_ service: RemoteService, _ console: Console) async throws {
        var deleted: [JSONText] = []
        // The list is also printed if one of the deletions is refused.
        defer { if console.isJSON { try? console.print(.object([("deleted", .array(deleted))])) } }
        try await BestEffort.run(on: ids, console) { id in
            _ = try await service.send("DELETE", RequestPath("jobs", id).asking("file", files ? "delete" : nil))
            deleted.append(.string(id))
            if !console.isJSON { try console.print("\(id) deleted") }
        }
    }

    private var removal: ManyJobsRequest {
        let filter = ManyJobsRequest.Filter(
            session: session, state: state?.rawValue, endedBefore: olderThan?.time(before: Date()))
        let isWhole = all && session == nil
        return ManyJobsRequest(
            action: "remove",
            body: .init(filter: isWhole ? nil : filter, all: isWhole ? true : nil, file: files ? "delete" : "keep"))
    }

    private func tell(_ result: ActionDocument, _ console: Console) throws {
        if result.matched == 0 { return console.say("No job matches. Nothing was deleted.") }
        try console.print(result.changed == 1 ? "1 job deleted" : "\(result.changed) jobs deleted")
        guard result.refused > 0 else { return }
        for problem in result.problems { console.say("\(problem.id) could not be deleted: \(problem.code)") }
        if result.refused > result.problems.count {
            console.say("and \(result.refused - result.problems.count) more")
        }
    }
}

/// A request for an action on many jobs. If it has to be repeated, the service carries it out once.
struct ManyJobsRequest: Sendable {
    struct Body: Encodable, Sendable {
        var filter: Filter?
        var all: Bool?
        var file: String?
    }

    struct Filter: Encodable, Sendable {
        var session: String?
        var state: String?
        var endedBefore: String?
    }

    /// The name of the action in the API.
    let action: String
    let body: Body
    private let key = UUID().uuidString

    init(action: String, body: Body) {
        (self.action, self.body) = (action, body)
    }

    func send(to service: RemoteService) async throws -> Answer {
        try await service.repeating {
            try await service.send(
                "POST", RequestPath("jobs", action), JSONText.written(body), headers: [("Idempotency-Key", key)])
        }
    }
}

/// The result of an action on many jobs.
struct ActionDocument: Decodable, Sendable {
    var matched: Int
    var changed: Int
    var refused: Int
    /// The first of those that were refused.
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
