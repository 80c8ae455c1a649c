import ArgumentParser

struct RetryCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Retries failed or cancelled jobs, from the bytes they have kept.",
        discussion: """
            With --session or --all, the command retries only failed jobs.

            EXAMPLES:
              fetchd retry job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd retry --session photos
            """)

    @OptionGroup var selection: JobSelection
    @OptionGroup(title: "The service") var service: ServiceOptions

    /// The API has no retry of a whole session, so the command retries one job after the other. With a session, it retries
    /// only failed jobs: cancelled jobs were cancelled on purpose.
    func perform(with service: RemoteService, _ console: Console) async throws {
        let action = JobAction(verb: "retry")
        let ids = selection.ids
        guard ids.isEmpty else { return try await action.run(on: ids, isList: ids.count > 1, service, console) }
        let path = RequestPath("jobs").asking("session", selection.session).asking("state", "failed")
        let failed = try await service.list("jobs", at: path).decoded(JobDocument.self)
        if failed.isEmpty {
            return try console.isJSON
                ? console.print(.object([("jobs", .array([]))]))
                : console.say("No job has failed. Nothing was retried.")
        }
        try await action.run(on: failed.map(\.id), isList: true, service, console)
    }
}
