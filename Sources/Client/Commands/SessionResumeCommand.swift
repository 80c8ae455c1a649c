import ArgumentParser

struct SessionResumeCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resumes all jobs of a session.",
        discussion: """
            EXAMPLES:
              fetchd session resume photos
            """)

    @Argument(help: "The session.", completion: .sessionNames) var name: String
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try await JobAction(verb: "resume").run(onSessions: [name], service, console)
    }
}
