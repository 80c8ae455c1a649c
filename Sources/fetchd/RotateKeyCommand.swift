import ArgumentParser
import Configuration
import Formats
import Foundation
import Sealing
import Storage

/// `fetchd rotate-key`: encrypts the secrets in the database with a new key.
struct RotateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Encrypts the secrets in the database with a new key. The service must not be running.",
        discussion: """
            The command makes a new key, encrypts all secrets with it in one transaction, and replaces the key in the key \
            file. If it is interrupted, the service starts nevertheless; run the command again. Run it as the user of the \
            service.

            With --new-key-file, the new key is the one in that file, and the command changes no key file: start the service \
            with --key-file and that file from then on. A service with --key-command needs this form.

            With --lost, the command gives the present key up instead: the next start takes any key. Jobs whose secrets the \
            lost key has encrypted then wait for credentials, and webhooks are disabled. See docs/operations.md.

            EXAMPLES:
              fetchd rotate-key --data-dir /var/lib/fetchd/data
              fetchd rotate-key --key-file /etc/fetchd/key --new-key-file /etc/fetchd/key.2
            """)

    @OptionGroup var data: DataFolderOptions

    @Option(
        help: ArgumentHelp(
            "The file with the present key; also FETCHD_KEY_FILE or --config. (default: fetchd.key in the data folder)",
            valueName: "file"))
    var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "The command that prints the present key; also FETCHD_KEY_COMMAND or --config. (default: none)",
            valueName: "command"))
    var keyCommand: String?

    @Option(help: ArgumentHelp("A file with the new key. (default: a random key)", valueName: "file"))
    var newKeyFile: String?

    @Flag(help: "Give the present key up, because it is lost.")
    var lost = false

    func run() async throws {
        CoreDumps.disable()
        do {
            let sources = try data.sources(flags)
            let folder = try data.folder(in: sources)
            let newKey = try newKeyFile.map { try SettingsSources.expanded($0, "new_key_file") }
            if lost { try giveUp(folder) } else { try await rotate(folder, try sources.key, newKey) }
        } catch {
            throw Self.ending(with: error)
        }
    }

    private func giveUp(_ folder: String) throws {
        try KeyRotation.giveUpKey(inDataFolder: folder)
        print(
            "The key of \(folder) is given up. The next start of the service takes the key that it finds, or makes one."
        )
    }

    private func rotate(_ folder: String, _ source: KeySource, _ newKeyFile: String?) async throws {
        let key = try await KeyRotation(inDataFolder: folder, source: source, newKeyFile: newKeyFile).run()
        print("The secrets in \(folder) are encrypted with the new key \(key).")
        guard let newKeyFile else { return }
        print("Start the service with --key-file \(newKeyFile). Nothing in the database needs the old key any more.")
    }

    private var flags: [SettingName: JSON] {
        let flags: [SettingName: JSON?] = [
            .keyFile: keyFile.map(JSON.string), .keyCommand: keyCommand.map(JSON.string),
        ]
        return flags.compactMapValues(\.self)
    }
}
