import ArgumentParser

/// `fetchd completions bash`: prints the completion script of a shell.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Prints a completion script for a shell.",
        discussion: """
            EXAMPLES:
              fetchd completions bash > ~/.local/share/bash-completion/completions/fetchd
              fetchd completions zsh > ~/.zfunc/_fetchd
              fetchd completions fish > ~/.config/fish/completions/fetchd.fish
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    @Argument(help: "The shell: bash, zsh or fish.")
    var shell: Shell

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell.rawValue) else { return }
        print(FetchdCommand.completionScript(for: shell))
    }
}
