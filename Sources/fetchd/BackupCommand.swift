import ArgumentParser
import Client
import Configuration
import Foundation
import Sealing
import Storage
import StorageSQLite

struct BackupCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        "backup", "Copies the database into one file, also while the service runs.",
        discussion: """
            FILE gets every change that the service acknowledged before the command began. The service does not wait for the \
            command. FILE has mode 0600; it is written as FILE.partial, synced, and renamed, so that an interrupted command \
            leaves no incomplete backup.

            The backup contains no downloaded files, no received bytes of unfinished downloads, and not the key of the \
            secrets (fetchd.key): keep a copy of the key in another place. See docs/backup.md.
            """,
        examples: "backup /backup/fetchd.sqlite --data-dir /var/lib/fetchd/data",
        "backup --verify --force /backup/fetchd.sqlite")

    @Argument(help: ArgumentHelp("The file of the backup.", valueName: "file"), completion: .file()) var file: String
    @OptionGroup var data: DataFolderOptions

    @Flag(help: "Check every page, constraint and reference of the backup before it gets its name.")
    var verify = false

    @Flag(help: "Replace FILE if it exists.") var force = false

    func perform() throws {
        let report = try Backup.make(
            of: try data.folder(in: data.sources()), to: file, replacing: force, verifying: verify)
        let size = report.bytes.formatted(.byteCount(style: .file))
        print("Backed up to \(file) (\(size))\(verify ? ", and verified" : ""): \(report.contents).")
    }
}

struct RestoreCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        "restore", "Replaces the database with a copy. The service must not be running.",
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
            """,
        examples: "restore --check /backup/fetchd.sqlite",
        "restore --data-dir /var/lib/fetchd/data /backup/fetchd.sqlite")

    @Argument(help: ArgumentHelp("The copy of the database.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var data: DataFolderOptions
    @OptionGroup var key: KeyOptions
    @Flag(help: "Only check the file, completely. The data folder is not used.") var check = false

    /// A copy that cannot be read is a missing input (EX_NOINPUT), as in the table of docs/command-line.md.
    var storeFailure: ExitCode { access(file, R_OK) == 0 ? .failure : ExitCode(66) }

    func perform() throws {
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
            StandardStreams.writeError("Warning: The service will not start yet. \(warning)")
        }
    }

    /// Why the next start will be refused; nil if it will not.
    private static func warning(
        _ key: DatabaseInspection.KeyFinding, _ folder: String, _ source: KeySource
    ) -> String? {
        let database = folder + "/fetchd.sqlite"
        return switch key {
        case .fits, .notYetUsed: nil
        case .missing(let lost) where lost.isEmpty: nil
        case .missing(let lost):
            lost.refusal(ofDatabase: database, without: KeySource.file(inDataFolder: folder).path)
        case .wrong: StoreError.keyWrong(source: source.description(inDataFolder: folder), path: database).description
        case .unusable(let why): why
        }
    }
}

struct CompactCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        "compact", "Makes the database file smaller. The service must not be running.",
        discussion: """
            Deleted jobs and events leave free space in the database file. fetchd uses it for new ones, and gives it back by \
            itself only if a small part of the file is in use. This command always does. It rewrites the file, and needs as \
            much free space as the data in use. An interruption leaves the former file.
            """,
        examples: "compact --data-dir /var/lib/fetchd/data")

    @OptionGroup var data: DataFolderOptions

    func perform() throws {
        let (before, after) = try Compaction.run(inDataFolder: try data.folder(in: data.sources()))
        print("The database file had \(Self.text(before.size)), and has \(Self.text(after.size)) now.")
    }

    private static func text(_ bytes: Int64) -> String { bytes.formatted(.byteCount(style: .file)) }
}
