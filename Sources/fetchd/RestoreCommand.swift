import ArgumentParser
import Formats
import Foundation
import Storage

/// `fetchd restore`: a copy of the database takes the place of the one that is there.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Puts a copy of the database in place, while the service does not run.",
        discussion: """
            FILE is a copy of fetchd.sqlite: one made after a clean stop, by 'sqlite3 fetchd.sqlite ".backup FILE"', or \
            together with its log, FILE-wal. It is checked first, and only read. The database that is there is kept in the \
            data folder, with .replaced and the time in its name.

            Events, jobs and batches get numbers above all that the folder has seen: no consumer of webhooks sees one number \
            with two meanings. Part files that the copy does not know are left alone. docs/operations.md tells more.

            The service's own database is a FILE, too: 'fetchd restore data/fetchd.sqlite' goes on with what it holds where \
            'fetchd serve' refuses it because its last changes are lost.

            EXAMPLES:
              fetchd restore --data-dir /var/lib/fetchd /backup/fetchd.sqlite
            """)

    @Argument(help: ArgumentHelp("The copy.", valueName: "file"), completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "The data folder; FETCHD_DATA_DIR and --config can name it, too. (default: \(Settings.Defaults.dataDir))",
            valueName: "dir"))
    var dataDir: String?

    @Option(help: ArgumentHelp("The service's JSON file of settings. (default: none)", valueName: "file"))
    var config: String?

    func run() throws {
        do {
            let report = try Restoration.run(file, into: try folder())
            print("\(file) is restored: \(report.jobs) jobs; the next event has a number above \(report.lastEvent).")
            if let replaced = report.replaced { print("The database that was there is kept as \(replaced).") }
            if report.replacedIsUnreadable {
                print("It could not be read, so that numbers go on well above the last event that is known of it.")
            }
        } catch let error as SettingsError {
            throw ValidationError(error.description)
        } catch let error as StoreError {
            FileHandle.standardError.write(Data("Error: \(error.description)\n".utf8))
            throw ExitCode.failure
        }
    }

    private func folder() throws -> String {
        let flags: [Settings.Key: JSON]? = dataDir.map { [.dataDir: .string($0)] }
        return try SettingsSources(flags: flags ?? [:], configFile: config).path(.dataDir) ?? Settings.Defaults.dataDir
    }
}
