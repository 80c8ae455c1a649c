import ArgumentParser

/// `fetchd config`: shows and checks the settings of the service.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Shows the settings of the service, or checks a configuration file.",
        subcommands: [ConfigShowCommand.self, ConfigCheckCommand.self])
}
