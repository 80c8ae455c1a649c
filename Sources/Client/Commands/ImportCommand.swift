import ArgumentParser

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Adds the downloads of a file: of 'fetchd export', or of aria2.",
        discussion: """
            'fetchd import FILE' reads a file of 'fetchd export', and 'fetchd import aria2 FILE' a session file of aria2.

            Repeating an import adds nothing twice: each job keeps its origin in metadata.imported_from. Every line that \
            cannot be imported is named, and the others are imported.

            EXAMPLES:
              fetchd import queue.jsonl
              fetchd import aria2 --dry-run aria2.session
            """,
        subcommands: [ImportQueueCommand.self, ImportAria2Command.self],
        defaultSubcommand: ImportQueueCommand.self)
}
