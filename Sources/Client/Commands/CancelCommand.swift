import ArgumentParser

struct CancelCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels jobs.",
        discussion: """
            EXAMPLES:
              fetchd cancel job_01HZX3K9V7Q2N4R8T6W0YB5CDE
              fetchd cancel --keep-bytes --session photos
            """)

    @OptionGroup var selection: JobSelection

    @Flag(help: "Keep the downloaded bytes, so that a retry can continue from them.")
    var keepBytes = false

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let body = keepBytes ? JSONText(Array(#"{"produce_resume_data":true}"#.utf8)) : nil
        try await selection.perform(JobAction(verb: "cancel", body: body), service, console)
    }
}
