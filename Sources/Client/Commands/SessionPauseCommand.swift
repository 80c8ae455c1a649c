import ArgumentParser

struct SessionPauseCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pauses all jobs of a session.",
        discussion: """
            EXAMPLES:
              fetchd session pause photos
            """)

    @Argument(help: "The session.", completion: .sessionNames) var name: String
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try await JobAction(verb: "pause").run(onSessions: [name], service, console)
    }
}
