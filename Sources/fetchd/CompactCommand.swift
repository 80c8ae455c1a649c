import ArgumentParser
import Foundation
import Storage

/// `fetchd compact`: rewrites the database file without its free space.
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Makes the database file smaller. The service must not be running.",
        discussion: """
            Deleted jobs and events leave free space in the database file. fetchd uses it for new ones, and gives it back by \
            itself only if a small part of the file is in use. This command always does. It rewrites the file, and needs as \
            much free space as the data in use. An interruption leaves the former file.

            EXAMPLES:
              fetchd compact --data-dir /var/lib/fetchd/data
            """)

    @OptionGroup var data: DataFolderOptions

    func run() throws {
        do {
            let (before, after) = try Compaction.run(inDataFolder: try data.folder(in: data.sources()))
            print("The database file had \(Self.text(before.size)), and has \(Self.text(after.size)) now.")
        } catch let error as SettingsError {
            throw ValidationError(error.description)
        } catch let error as StoreError {
            FileHandle.standardError.write(Data("Error: \(error.description)\n".utf8))
            throw ExitCode.failure
        }
    }

    private static func text(_ bytes: Int64) -> String { bytes.formatted(.byteCount(style: .file)) }
}
