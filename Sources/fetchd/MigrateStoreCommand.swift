import ArgumentParser
import Configuration
import Formats
import Foundation
import Storage

/// `fetchd migrate-store`: takes the jobs of an SQLite database to PostgreSQL.
struct MigrateStoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate-store",
        abstract: "Copies the database of a data folder to PostgreSQL. The service must not be running.",
        discussion: """
            The command copies all sessions, jobs, events, webhooks, deliveries, tokens and settings to an empty PostgreSQL \
            database, in one transaction. It makes the tables if they are missing. It compares the number of rows of each table, \
            and up to about 1000 rows of each table with all columns, before it commits. After an error, PostgreSQL has nothing \
            of the copy. The database in the data folder is only read.

            Secrets are copied as they are encrypted: the service needs the same key afterwards, so keep the key file (fetchd.key \
            in the data folder). Downloaded files and received bytes stay in the downloads folder. Start the service with \
            --store and the same data folder, key and downloads folder; it continues where it stopped. Do not start it without \
            --store again: it would download the same jobs a second time. See docs/postgresql.md.

            EXAMPLES:
              fetchd migrate-store --from /var/lib/fetchd/data --to postgres://fetchd@db/fetchd
            """)

    @Option(help: ArgumentHelp("The data folder of the stopped service.", valueName: "dir"), completion: .directory)
    var from: String

    @Option(
        help: ArgumentHelp(
            "The empty PostgreSQL database. The password is better in PGPASSFILE or FETCHD_STORE, because other users can read command lines. (default: FETCHD_STORE, or store of --config)",
            valueName: "url"))
    var to: String?

    @Option(help: ArgumentHelp("The configuration file (JSON) of the service. (default: none)", valueName: "file"))
    var config: String?

    @OptionGroup var key: SettingOptions<KeyRows>

    func run() throws {
        CoreDumps.disable()
        do {
            let sources = try SettingsSources(flags: flags, configFile: config)
            guard let server = try sources.store else {
                throw SettingsError("Name the PostgreSQL database with --to or FETCHD_STORE.")
            }
            let folder = try sources.settings(only: [.dataDir]).dataDir ?? from
            let migration = StoreMigration(
                fromDataFolder: folder, key: try sources.key, to: server,
                onTable: { Self.report("Copying \($0) ...\n") })
            Self.print(
                try migration.run(), of: folder, in: server, key: try sources.key.description(inDataFolder: folder))
        } catch {
            throw Self.ending(with: error)
        }
    }

    private var flags: [SettingName: JSON] {
        let flags: [SettingName: JSON?] = [.dataDir: .string(from), .store: to.map(JSON.string)]
        return key.flags.merging(flags.compactMapValues(\.self)) { $1 }
    }

    private static func report(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

    private static func print(
        _ report: MigrationReport, of folder: String, in server: ServerAddress, key: String
    ) {
        let rows = report.tables.map { [$0.name, "\($0.rows)", "\($0.comparedRows)"] }
        for row in [["TABLE", "ROWS", "COMPARED"]] + rows {
            Swift.print(
                row[0].padded(to: 20, onTheLeft: false) + row[1...].map { $0.padded(to: 12, onTheLeft: true) }.joined())
        }
        Swift.print(
            """
            \(server.shown) has the jobs of \(folder) now. The next event gets a number above \(report.lastEvent).
            Start the service with this database, with \(key), and with the same downloads folder. Do not start it without \
            --store again.
            """)
    }
}

extension String {
    fileprivate func padded(to width: Int, onTheLeft: Bool) -> String {
        let blanks = String(repeating: " ", count: max(0, width - count))
        return onTheLeft ? blanks + self : self + blanks
    }
}
