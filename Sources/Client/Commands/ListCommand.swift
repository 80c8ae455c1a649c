import ArgumentParser

struct ListCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists jobs, newest first.",
        discussion: """
            EXAMPLES:
              fetchd list
              fetchd list --session photos --state failed
              fetchd list --limit 10 --json
              fetchd list --tag holiday --quiet
            """,
        aliases: ["ls"])

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Only jobs of this session.", valueName: "name"),
        completion: .sessionNames)
    var session: String?

    @Option(help: "Only jobs in this state.")
    var state: JobStateArgument?

    @Option(name: .shortAndLong, help: ArgumentHelp("Only jobs with this tag.", valueName: "tag"))
    var tag: String?

    @Option(
        name: [.customShort("l", allowingJoined: true), .long],
        help: ArgumentHelp("The maximum number of jobs. (default: all)", valueName: "n"))
    var limit: Int?

    @Flag(name: .shortAndLong, help: "Print only identifiers.")
    var quiet = false

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
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
            console.say("No jobs found. To add one: fetchd add URL")
        } else {
            try console.print(Table.jobs(jobs))
        }
    }
}
