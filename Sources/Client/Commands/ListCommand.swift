import ArgumentParser

struct ListCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists jobs, the newest first.",
        discussion: """
            EXAMPLES:
              fetchd list
              fetchd list --session photos --state failed
              fetchd list --limit 10 --json
              fetchd list --tag holiday --quiet
            """,
        aliases: ["ls"])

    @Option(name: .shortAndLong, help: ArgumentHelp("Of this session.", valueName: "name"), completion: .sessionNames)
    var session: String?

    @Option(help: "In this state.")
    var state: JobStateArgument?

    @Option(name: .shortAndLong, help: ArgumentHelp("With this tag.", valueName: "tag"))
    var tag: String?

    @Option(
        name: [.customShort("l", allowingJoined: true), .long],
        help: ArgumentHelp("So many at most. (default: all)", valueName: "n"))
    var limit: Int?

    @Flag(name: .shortAndLong, help: "Print identifiers alone.")
    var quiet = false

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1 on.") }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = RequestPath("jobs").asking("session", session).asking("state", state?.rawValue).asking("tag", tag)
        let list = try await service.list("jobs", at: path, limit: limit)
        if list.elements.isEmpty { try await service.requireSession(session) }
        if console.isJSON { return try console.print(list.text) }
        let jobs = try list.decoded(JobDocument.self)
        if quiet {
            try console.out.write(jobs.map { $0.id + "\n" }.joined())
        } else if jobs.isEmpty {
            console.say("There are no such jobs. To add one: fetchd add URL")
        } else {
            try console.print(Table.jobs(jobs))
        }
    }
}
