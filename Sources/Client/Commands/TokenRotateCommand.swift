import ArgumentParser

struct TokenRotateCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replaces the secret of a token, and prints the new one.",
        discussion: """
            The service refuses the old secret at once, unless --overlap gives its users time to change it.

            EXAMPLES:
              fetchd token rotate tok_01HZX3K9V7Q2N4R8T6W0YB5CDH
              fetchd token rotate laptop
              fetchd token rotate tok_01HZX3K9V7Q2N4R8T6W0YB5CDH --overlap 1h
            """)

    @Argument(help: "The identifier or the name of the token.", completion: .tokenIDs) var token: String

    @Option(
        help: ArgumentHelp(
            "The time for which the service still accepts the old secret, such as 90s or 1h; at most a week. (default: none)",
            valueName: "duration"))
    var overlap: DurationArgument?

    @Flag(name: .shortAndLong, help: "Print only the secret.")
    var quiet = false

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let body = overlap.map { JSONText.object([("overlap_seconds", JSONText(JSONText.written($0.seconds)))]).bytes }
        let path = RequestPath("tokens", try await service.tokenID(token), "rotate")
        let answer = try await service.send("POST", path, body)
        try TokenDescription.show(answer, onlySecret: quiet, console)
    }
}
