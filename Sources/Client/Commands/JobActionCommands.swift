import ArgumentParser

struct PauseCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Stops jobs for the time being; what they have is kept.",
        discussion: """
            EXAMPLES:
              fetchd pause job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd pause --session photos
              fetchd pause --all
            """)

    @OptionGroup var selection: JobSelection
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try await selection.perform(JobAction(verb: "pause"), service, console)
    }
}

struct ResumeCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Lets paused jobs go on, and waiting ones at once.",
        discussion: """
            EXAMPLES:
              fetchd resume job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd resume --session photos
            """)

    @OptionGroup var selection: JobSelection
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try await selection.perform(JobAction(verb: "resume"), service, console)
    }
}

struct CancelCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Stops jobs for good.",
        discussion: """
            EXAMPLES:
              fetchd cancel job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd cancel --keep-bytes --session photos
            """)

    @OptionGroup var selection: JobSelection

    @Flag(help: "Keep what was downloaded, so that a retry goes on from there.")
    var keepBytes = false

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let body = keepBytes ? JSONText(Array(#"{"produce_resume_data":true}"#.utf8)) : nil
        try await selection.perform(JobAction(verb: "cancel", body: body), service, console)
    }
}

struct RetryCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Begins failed or cancelled jobs again, from the bytes they have.",
        discussion: """
            With --session or --all, it is those that have failed.

            EXAMPLES:
              fetchd retry job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd retry --session photos
            """)

    @OptionGroup var selection: JobSelection
    @OptionGroup(title: "The service") var service: ServiceOptions

    /// The API retries one at a time: whoever retries a session means what has failed, not what was cancelled.
    func perform(with service: RemoteService, _ console: Console) async throws {
        let action = JobAction(verb: "retry")
        let ids = selection.ids
        guard ids.isEmpty else { return try await action.run(on: ids, isList: ids.count > 1, service, console) }
        let path = RequestPath("jobs").asking("session", selection.session).asking("state", "failed")
        let failed = try await service.list("jobs", at: path).decoded(JobDocument.self)
        if failed.isEmpty {
            return try console.isJSON
                ? console.print(.object([("jobs", .array([]))])) : console.say("No job has failed; nothing is retried.")
        }
        try await action.run(on: failed.map(\.id), isList: true, service, console)
    }
}
