import ArgumentParser

struct RetryCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Retries failed or cancelled jobs, from the bytes they have kept.",
        discussion: """
            With --session or --all, the command retries only failed jobs, or with --state cancelled only cancelled ones.

            EXAMPLES:
              fetchd retry job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd retry --session photos
              fetchd retry --all --state failed
            """)

    enum EndedState: String, ExpressibleByArgument, CaseIterable, Sendable { case failed, cancelled }

    @OptionGroup var selection: JobSelection

    @Option(help: "With --session or --all: the jobs in this state. (default: failed)")
    var state: EndedState?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        if state != nil, !selection.ids.isEmpty { throw ValidationError("--state needs --session or --all.") }
    }

    /// The API has no retry of a whole session, so the command retries one job after the other. With a session, it retries
    /// only failed jobs, unless the user names the others: cancelled jobs were cancelled on purpose.
    func perform(with service: RemoteService, _ console: Console) async throws {
        let action = JobAction(verb: "retry")
        let ids = selection.ids
        guard ids.isEmpty else { return try await action.run(on: ids, isList: ids.count > 1, service, console) }
        let state = state ?? .failed
        let path = RequestPath("jobs").asking("session", selection.session).asking("state", state.rawValue)
        let ended = try await service.list("jobs", at: path).decoded(JobDocument.self)
        if ended.isEmpty {
            try await service.requireSession(selection.session)
            return try console.isJSON
                ? console.print(.object([("jobs", .array([]))]))
                : console.say("No job \(state == .failed ? "has failed" : "is cancelled"). Nothing was retried.")
        }
        try await action.run(on: ended.map(\.id), isList: true, service, console)
    }
}
