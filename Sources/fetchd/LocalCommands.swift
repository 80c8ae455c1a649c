import API
import ArgumentParser
import Client
import Configuration
import Downloads
import Formats
import Foundation
import Glibc
import Sealing
import Storage
import StoragePostgres
import StorageSQLite

/// A command that uses the files and the database of a service, not its API. `run()` converts the errors of `perform`.
protocol LocalCommand: AsyncParsableCommand {
    /// The exit status after a failure of the database.
    var storeFailure: ExitCode { get }
    func perform() async throws
}

extension LocalCommand {
    var storeFailure: ExitCode { .failure }

    func run() async throws {
        // Most of these commands have secrets in memory.
        CoreDumps.disable()
        do {
            try await perform()
        } catch let error as SettingsError {
            throw ValidationError(error.description)
        } catch let error as StoreError {
            StandardStreams.writeError("Error: \(error.description)")
            throw storeFailure
        }
    }
}

/// The data folder of a command that runs beside the service, or in its place.
struct DataFolderOptions: ParsableArguments {
    @Option("The data folder; also FETCHD_DATA_DIR or --config. (default: \(Setting.defaultText(.dataDir)))", "dir")
    var dataDir: String?

    @Option("The configuration file (JSON) of the service. (default: none)", "file")
    var config: String?

    func sources(_ flags: [SettingName: JSON] = [:]) throws -> SettingsSources {
        let folder = SettingsSources.flags([.dataDir: dataDir])
        return try SettingsSources(flags: flags.merging(folder) { $1 }, configFile: config)
    }

    /// - Throws: `SettingsError` if the jobs are not in the data folder.
    func folder(in sources: SettingsSources) throws -> String {
        if let store = try sources.store {
            throw SettingsError(
                "The jobs are in \(store.shown), and this command is for an SQLite database. Use PostgreSQL's own tools, such as pg_dump, or unset the setting store."
            )
        }
        if let named = try sources.settings(only: [.dataDir]).dataDir { return named }
        let folders = DefaultFolders.ofProcess()
        try folders.requireNoDatabaseOfAnEarlierVersion()
        return folders.data
    }
}

extension SettingsSources {
    /// The options of a command that were given.
    static func flags(_ texts: [SettingName: String?]) -> [SettingName: JSON] {
        texts.compactMapValues { $0.map(JSON.string) }
    }

    /// The PostgreSQL database of the jobs; nil: SQLite in the data folder.
    var store: ServerAddress? { get throws { try settings(only: [.store]).store } }

    /// Where the key comes from that seals secrets.
    var key: KeySource { get throws { try settings(only: [.keyFile, .keyCommand]).key } }
}

// MARK: - Export

struct ExportCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        "export", "Writes sessions, jobs and webhooks as JSON lines, also while the service runs.",
        discussion: """
            Each line has the request that creates one session, job or webhook. 'fetchd import FILE' creates them in another \
            service. The jobs are those that have not ended; with --ended, also those that have failed or were cancelled. \
            Received bytes, events and finished jobs are not exported: use 'fetchd backup' to move a whole service.

            Without --with-secrets, the member missing of a line names the secrets that it lacks: credentials, secret headers, \
            request bodies, users of URLs, and of webhooks the secret, the headers and the query. Queries of jobs' URLs are \
            written.
            """,
        examples: "export --output queue.jsonl --data-dir /var/lib/fetchd/data",
        "export --with-secrets --output queue.jsonl")

    @OptionGroup var data: DataFolderOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("A new file, of mode 0600. (default: standard output)", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Write secrets, too.") var withSecrets = false
    @Flag(help: "Also write jobs that have failed or were cancelled. An import begins them again.") var ended = false
    @OptionGroup var key: KeyOptions

    func perform() throws {
        let sources = try data.sources(key.flags)
        let file = try output.map(Self.create) ?? FileHandle.standardOutput
        let lines = ExportLine(withSecrets: withSecrets)
        try file.write(contentsOf: lines.header(at: Date()).line)
        let folder = try data.folder(in: sources)
        try StoredQueue.read(inDataFolder: folder, key: try sources.key, states: states) { item in
            try file.write(contentsOf: lines.line(item).line)
        }
        try? file.synchronize()
    }

    private var states: Set<JobState.Kind> {
        let outstanding: Set<JobState.Kind> = [.queued, .running, .waiting, .paused]
        return ended ? outstanding.union([.failed, .cancelled]) : outstanding
    }

    private static func create(_ path: String) throws -> FileHandle {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw ValidationError("\(path) cannot be created: \(reason).")
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}

// MARK: - The key

struct RotateKeyCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        "rotate-key", "Encrypts the secrets in the database with a new key. The service must not be running.",
        discussion: """
            The command makes a new key, encrypts all secrets with it in one transaction, and replaces the key in the key \
            file. If it is interrupted, the service starts nevertheless; run the command again. Run it as the user of the \
            service.

            With --new-key-file, the new key is the one in that file, and the command changes no key file: start the service \
            with --key-file and that file from then on. A service with --key-command needs this form.

            With --lost, the command gives the present key up instead: the next start takes any key. Jobs whose secrets the \
            lost key has encrypted then wait for credentials, and webhooks are disabled. See docs/operations.md.
            """,
        examples: "rotate-key --data-dir /var/lib/fetchd/data",
        "rotate-key --key-file /etc/fetchd/key --new-key-file /etc/fetchd/key.2")

    @OptionGroup var data: DataFolderOptions

    @Option(
        "The file with the present key; also FETCHD_KEY_FILE or --config. (default: fetchd.key in the data folder)",
        "file")
    var keyFile: String?

    @Option("The command that prints the present key; also FETCHD_KEY_COMMAND or --config. (default: none)", "command")
    var keyCommand: String?

    @Option("A file with the new key. (default: a random key)", "file")
    var newKeyFile: String?

    @Flag(help: "Give the present key up, because it is lost.") var lost = false

    func perform() async throws {
        let sources = try data.sources(SettingsSources.flags([.keyFile: keyFile, .keyCommand: keyCommand]))
        let folder = try data.folder(in: sources)
        let newKey = try newKeyFile.map { try SettingsSources.expanded($0, "new_key_file") }
        if lost { try giveUp(folder) } else { try await rotate(folder, try sources.key, newKey) }
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
}

// MARK: - PostgreSQL

struct MigrateStoreCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        "migrate-store", "Copies the database of a data folder to PostgreSQL. The service must not be running.",
        discussion: """
            The command copies all sessions, jobs, events, webhooks, deliveries, tokens and settings to an empty PostgreSQL \
            database, in one transaction. It makes the tables if they are missing. It compares the number of rows of each table, \
            and up to about 1000 rows of each table with all columns, before it commits. After an error, PostgreSQL has nothing \
            of the copy. The database in the data folder is only read.

            Secrets are copied as they are encrypted: the service needs the same key afterwards, so keep the key file (fetchd.key \
            in the data folder). Downloaded files and received bytes stay in the downloads folder. Start the service with \
            --store and the same data folder, key and downloads folder; it continues where it stopped. Do not start it without \
            --store again: it would download the same jobs a second time. See docs/postgresql.md.
            """,
        examples: "migrate-store --from /var/lib/fetchd/data --to postgres://fetchd@db/fetchd")

    @Option(help: ArgumentHelp("The data folder of the stopped service.", valueName: "dir"), completion: .directory)
    var from: String

    @Option(
        "The empty PostgreSQL database. The password is better in PGPASSFILE or FETCHD_STORE, because other users can read command lines. (default: FETCHD_STORE, or store of --config)",
        "url")
    var to: String?

    @Option("The configuration file (JSON) of the service. (default: none)", "file")
    var config: String?

    @OptionGroup var key: KeyOptions

    func perform() throws {
        let flags = SettingsSources.flags([.dataDir: from, .store: to])
        let sources = try SettingsSources(flags: key.flags.merging(flags) { $1 }, configFile: config)
        guard let server = try sources.store else {
            throw SettingsError("Name the PostgreSQL database with --to or FETCHD_STORE.")
        }
        let folder = try sources.settings(only: [.dataDir]).dataDir ?? from
        let report = try StoreMigration.run(
            from: .sqlite(inDataFolder: folder, key: try sources.key), to: server.url,
            onTable: { StandardStreams.writeError("Copying \($0) ...") })
        let rows = report.tables.map { [$0.name, "\($0.rows)", "\($0.comparedRows)"] }
        for row in [["TABLE", "ROWS", "COMPARED"]] + rows {
            print(
                row[0].padded(to: 20, onTheLeft: false) + row[1...].map { $0.padded(to: 12, onTheLeft: true) }.joined())
        }
        print(
            """
            \(server.shown) has the jobs of \(folder) now. The next event gets a number above \(report.lastEvent).
            Start the service with this database, with \(try sources.key.description(inDataFolder: folder)), and with the \
            same downloads folder. Do not start it without --store again.
            """)
    }
}

extension String {
    fileprivate func padded(to width: Int, onTheLeft: Bool) -> String {
        let blanks = String(repeating: " ", count: max(0, width - count))
        return onTheLeft ? blanks + self : self + blanks
    }
}
