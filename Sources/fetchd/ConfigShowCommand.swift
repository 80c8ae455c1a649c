import ArgumentParser
import Formats
import Foundation
import Storage

/// `fetchd config show`: the settings that `fetchd serve` would use.
struct ConfigShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Prints each setting of the service, its source and its value.",
        discussion: """
            The command takes the options and the environment of 'fetchd serve', and reads the same configuration file. The \
            sources are flag, environment, file, default, and api: a client has set the value with PATCH /v1/service, and the \
            database in the data folder has it. Secrets are not shown.

            EXIT STATUS:
              0    the settings are valid
              1    the database cannot be read
              64   an option or a setting cannot be used

            EXAMPLES:
              fetchd config show
              fetchd config show --max-concurrent-jobs 4 --json
            """)

    @OptionGroup var options: ServeOptions

    @Flag(help: "Print one JSON document, with the names of the configuration file.")
    var json = false

    @Flag(help: ArgumentHelp("Print the table of docs/configuration.md.", visibility: .hidden))
    var table = false

    func run() throws {
        if table { return print(try SettingsTable().text) }
        do {
            let sources = try SettingsSources(flags: options.flags, configFile: options.config)
            let settings = try ShownSettings(sources)
            print(json ? settings.document.written : settings.lines.joined(separator: "\n"))
        } catch let error as SettingsError {
            throw ValidationError(error.description)
        } catch let error as StoreError {
            FileHandle.standardError.write(Data("Error: \(error.description)\n".utf8))
            throw ExitCode.failure
        }
    }
}
