import ArgumentParser
import Base
import Client
import Foundation
import Glibc

@main
struct FetchdCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetchd",
        abstract: "Downloads files in the background. Programs submit jobs over HTTP and are notified at the end.",
        discussion: """
            'fetchd serve' runs the service; 'fetchd serve --help' explains every option. 'fetchd config' shows and \
            checks its settings. 'fetchd backup' copies its database, also while it runs, and 'fetchd restore' replaces the \
            database with a copy. 'fetchd doctor' looks for faults. 'fetchd export' writes sessions, jobs and webhooks as JSON \
            lines. 'fetchd compact' makes the database file smaller. 'fetchd rotate-key' changes the key of its secrets. \
            'fetchd migrate-store' copies its database to PostgreSQL. All other commands send requests to a running service. The \
            service describes its public API at /openapi.yaml.

            The commands take the address and the token of the service from --url and --token-file, from FETCHD_URL and \
            FETCHD_TOKEN, or from ~/.config/fetchd/config.json ({"url": "...", "token": "..."}). With --json, they print the \
            JSON documents of the API. Data go to standard output; progress, messages and errors go to standard error.

            EXIT STATUS:
              0    success
              1    a download that the command waited for has failed
              64   the command line has a mistake
              65   the service refused a value as invalid
              66   the job, session, webhook or file does not exist
              69   the service is unavailable
              70   the service failed
              73   a file cannot be written
              74   'fetchd serve' stopped, and some changes could not be stored
              75   the current state does not allow the action
              76   the server at the address is not fetchd
              77   a token is required, or the token is wrong
              78   the configuration cannot be used
              124  the time of --timeout has passed
              129  the terminal was closed
              130  interrupted by Ctrl-C
              143  ended by SIGTERM

            EXAMPLES:
              fetchd add --wait https://example.org/image.iso
              fetchd list
              fetchd watch
            """,
        version: Version.text,
        subcommands: [
            ServeCommand.self, ConfigCommand.self, BackupCommand.self, RestoreCommand.self, DoctorCommand.self,
            ExportCommand.self, CompactCommand.self, RotateKeyCommand.self, MigrateStoreCommand.self,
            CompletionsCommand.self,
        ],
        groupedSubcommands: ClientCommands.groups)

    /// Opens closed standard streams before anything else: otherwise the next file to be opened would get the descriptor of
    /// such a stream, and receive its output.
    static func main() async {
        StandardStreams.open()
        FreedMemory.keepLittle()
        await main(nil)
    }
}

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "completions", "Prints a completion script for a shell.",
        examples: "completions bash > ~/.local/share/bash-completion/completions/fetchd",
        "completions zsh > ~/.zfunc/_fetchd", "completions fish > ~/.config/fish/completions/fetchd.fish")

    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    @Argument(help: "The shell: bash, zsh or fish.") var shell: Shell

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell.rawValue) else { return }
        print(FetchdCommand.completionScript(for: shell))
    }
}

enum StandardStreams {
    /// Opens /dev/null for reading in place of each standard stream that the parent process has closed (`>&-`). A read
    /// from such a stream returns the end of the file. A write to it fails, like a write to a closed stream.
    static func open() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // open() returns the lowest free descriptor, which is this one.
            _ = Glibc.open("/dev/null", O_RDONLY)
        }
    }

    static func writeError(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
