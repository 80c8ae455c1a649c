import ArgumentParser

struct SessionCancelCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancels all unfinished jobs of a session. The session stays.",
        discussion: """
            EXAMPLES:
              fetchd session cancel photos
            """)

    @Argument(help: "The session.", completion: .sessionNames) var name: String
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try await JobAction(verb: "cancel").run(onSessions: [name], service, console)
    }
}
