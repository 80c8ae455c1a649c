import ArgumentParser
import Foundation
import Sealing
import Storage

/// `fetchd restore`: replaces the database with a copy.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Replaces the database with a copy. The service must not be running.",
        discussion: """
            FILE is a backup of 'fetchd backup', or a copy of fetchd.sqlite that was made after a clean stop, or together with \
            its write-ahead log, FILE-wal. The command checks FILE first, and does not change it. It keeps the present \
            database in the data folder, with .replaced and the time in its name. If it is interrupted, the folder has the \
            former database, or the next start completes the restore.

            New events, jobs and batches get numbers above all numbers that the folder has used, so a webhook receiver never \
            sees one number for two events. Part files that the copy does not know are kept. See docs/backup.md.

            FILE can also be the database of the data folder itself: if 'fetchd serve' refuses to start because the last \
            changes are lost, 'fetchd restore data/fetchd.sqlite' continues with the remaining contents.

            The database needs the key with which it was made. If the service has another one or none, the command says so.

            With --check, the command checks every page, constraint and reference of FILE, and restores nothing.

            EXAMPLES:
              fetchd restore --check /backup/fetchd.sqlite
              fetchd restore --data-dir /var/lib/fetchd/data /backup/fetchd.sqlite
            """)

    @Argument(help: ArgumentHelp("The copy of the database.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var data: DataFolderOptions

    @OptionGroup var key: KeyOptions

    @Flag(help: "Only check the file, completely. The data folder is not used.")
    var check = false

    func run() throws {
        do {
            if check { return print("\(file) is complete: \(try Backup.verify(file)).") }
            let sources = try data.sources(key.flags)
            let folder = try data.folder(in: sources)
            let report = try Restoration.run(file, into: folder, key: try sources.key)
            print("Restored \(report.jobs) jobs from \(file). The next event gets a number above \(report.lastEvent).")
            if let replaced = report.replaced { print("The previous database is kept as \(replaced).") }
            if report.replacedIsUnreadable {
                print("The previous database could not be read. New events get numbers far above its last known event.")
            }
            if let warning = Self.warning(report.key, folder, try sources.key) {
                FileHandle.standardError.write(Data("Warning: \(warning)\n".utf8))
            }
        } catch let error as SettingsError {
            throw ValidationError(error.description)
        } catch let error as StoreError {
            FileHandle.standardError.write(Data("Error: \(error.description)\n".utf8))
            throw access(file, R_OK) == 0 ? ExitCode.failure : ExitCode(Self.missingStatus)
        }
    }

    /// The copy cannot be read (EX_NOINPUT), as in the table of docs/command-line.md.
    private static let missingStatus: Int32 = 66

    /// Why the next start will be refused; nil if it will not.
    private static func warning(
        _ key: DatabaseInspection.KeyFinding, _ folder: String, _ source: KeySource
    ) -> String? {
        let database = folder + "/fetchd.sqlite"
        return switch key {
        case .fits, .notYetUsed: nil
        case .missing(let lost):
            lost.isEmpty
                ? nil
                : "The service will not start yet. "
                    + lost.refusal(
                        ofDatabase: database, without: KeySource.file(inDataFolder: folder).path)
        case .wrong:
            "The service will not start yet. "
                + StoreError.keyWrong(source: source.description(inDataFolder: folder), path: database).description
        case .unusable(let why): "The service will not start yet. \(why)"
        }
    }
}
