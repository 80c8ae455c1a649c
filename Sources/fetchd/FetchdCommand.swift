import ArgumentParser
import Client

/// `fetchd`: the service and its client, in one binary.
@main
struct FetchdCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetchd",
        abstract: "Downloads in the background: submit jobs over HTTP, go away, be called back.",
        discussion: """
            Start the service with 'fetchd serve'; 'fetchd serve --help' explains every option. \
            'fetchd restore' puts a copy of its database in place. All other commands talk to a running service by its public \
            API, which it describes itself, at /openapi.yaml.

            Where the service is, and the token it wants, they take from --url and --token-file, from FETCHD_URL and \
            FETCHD_TOKEN, or from ~/.config/fetchd/config.json ({"url": "...", "token": "..."}). --json prints the API's \
            own documents. Data go to standard output, everything else to standard error.

            EXIT STATUS:
              0    it worked
              1    a download that was waited for was not successful
              64   the command makes no sense
              65   the service refused what was asked
              66   there is no such job, session, webhook or file
              69   the service is not there
              70   the service failed
              73   a file cannot be written
              74   'fetchd serve' stopped, and something could not be stored
              75   the present state does not allow it
              76   what answers is not fetchd
              77   a token is needed, or another one
              78   the configuration cannot be used
              124  the time given by --timeout is over
              129  the terminal was closed
              130  interrupted by Ctrl-C
              143  ended by SIGTERM

            EXAMPLES:
              fetchd add --wait https://example.org/image.iso
              fetchd list
              fetchd watch
            """,
        version: Version.text,
        subcommands: [ServeCommand.self, RestoreCommand.self, CompletionsCommand.self],
        groupedSubcommands: ClientCommands.groups)

    /// Before anything is opened: what is opened while a standard stream is closed gets its number, and what is meant for
    /// that stream.
    static func main() async {
        StandardStreams.open()
        await main(nil)
    }
}

enum Version {
    static let text = "0.1.0"
}
