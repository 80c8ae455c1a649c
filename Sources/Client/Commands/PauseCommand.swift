import ArgumentParser

struct PauseCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pauses jobs. They keep the bytes they have received.",
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
