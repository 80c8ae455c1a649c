import ArgumentParser
import Formats

/// The options of `fetchd serve` that say where the key comes from.
struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file of mode 0600 with the key that encrypts secrets in the database: 32 bytes in base64. See docs/operations.md. (default: fetchd.key in the data folder, created if missing)",
            valueName: "file"))
    var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "A command that prints this key. It is split at blanks and runs without a shell, for at most 30 s. (default: none)",
            valueName: "command"))
    var keyCommand: String?

    /// Only the options that were given.
    var flags: [Settings.Key: JSON] {
        let flags: [Settings.Key: JSON?] = [
            .keyFile: keyFile.map(JSON.string), .keyCommand: keyCommand.map(JSON.string),
        ]
        return flags.compactMapValues(\.self)
    }
}
