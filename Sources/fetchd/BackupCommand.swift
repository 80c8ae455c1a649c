import ArgumentParser
import Foundation
import Storage

/// `fetchd backup`: copies the database into one file.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies the database into one file, also while the service runs.",
        discussion: """
            FILE gets every change that the service acknowledged before the command began. The service does not wait for the \
            command. FILE has mode 0600; it is written as FILE.partial, synced, and renamed, so that an interrupted command \
            leaves no incomplete backup.

            The backup contains no downloaded files, no received bytes of unfinished downloads, and not the key of the \
            secrets (fetchd.key): keep a copy of the key in another place. See docs/backup.md.

            EXAMPLES:
              fetchd backup /backup/fetchd.sqlite --data-dir /var/lib/fetchd/data
              fetchd backup --verify --force /backup/fetchd.sqlite
            """)

    @Argument(help: ArgumentHelp("The file of the backup.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var data: DataFolderOptions

    @Flag(help: "Check every page, constraint and reference of the backup before it gets its name.")
    var verify = false

    @Flag(help: "Replace FILE if it exists.")
    var force = false

    func run() throws {
        do {
            let report = try Backup.make(
                of: try data.folder(in: data.sources()), to: file, replacing: force, verifying: verify)
            let size = report.bytes.formatted(.byteCount(style: .file))
            print("Backed up to \(file) (\(size))\(verify ? ", and verified" : ""): \(report.contents).")
        } catch let error as SettingsError {
            throw ValidationError(error.description)
        } catch let error as StoreError {
            FileHandle.standardError.write(Data("Error: \(error.description)\n".utf8))
            throw ExitCode.failure
        }
    }
}
