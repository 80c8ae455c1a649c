import ArgumentParser
import Foundation

/// `fetchd config check`: finds the mistakes in a configuration file.
struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Lists all mistakes in a configuration file.",
        discussion: """
            Each mistake is a line on standard error, with the line in the file. The command looks at the file alone: it \
            neither reads the environment nor opens folders, sockets or keys.

            EXIT STATUS:
              0    the file has no mistake
              64   the file cannot be read
              78   the file has mistakes

            EXAMPLES:
              fetchd config check fetchd.json
            """)

    @Argument(help: ArgumentHelp("The configuration file (JSON).", valueName: "file"), completion: .file())
    var file: String

    func run() throws {
        let mistakes: [ConfigurationCheck.Mistake]
        do {
            mistakes = try ConfigurationCheck(of: file).mistakes
        } catch let error as SettingsError {
            throw ValidationError(error.description)
        }
        guard !mistakes.isEmpty else { return print("\(file) has no mistake.") }
        for mistake in mistakes {
            let place = mistake.line.map { "\(file):\($0)" } ?? file
            FileHandle.standardError.write(Data("\(place): \(mistake.text)\n".utf8))
        }
        throw ExitCode(Self.mistakeStatus)
    }

    /// EX_CONFIG of sysexits.h.
    private static let mistakeStatus: Int32 = 78
}
