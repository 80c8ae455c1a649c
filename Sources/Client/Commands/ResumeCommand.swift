import ArgumentParser

struct ResumeCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resumes paused jobs, and waiting jobs without the wait.",
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
