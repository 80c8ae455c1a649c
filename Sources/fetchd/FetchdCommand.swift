import ArgumentParser

/// `fetchd`: the service and, later, its client, in one binary.
@main
struct FetchdCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetchd",
        abstract: "Downloads in the background: submit jobs over HTTP, go away, be called back.",
        discussion: """
            Start the service with `fetchd serve`; `fetchd serve --help` explains every option. The API is described by \
            the service itself, at /openapi.yaml.
            """,
        version: Version.text,
        subcommands: [ServeCommand.self], defaultSubcommand: nil)
}

enum Version {
    static let text = "0.1.0"
}
