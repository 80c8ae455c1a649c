import Downloads
import Foundation
import GRDB
import Glibc
import Storage

/// Copies the database of a data folder into one file, with or without a service that uses the folder.
///
/// The copy is one snapshot: it has every change that was acknowledged before it began, and no change in part. The writer
/// of the service does not wait for it. The copy does not contain the key that seals secrets.
public struct Backup: Sendable {
    public struct Report: Sendable, Equatable {
        public var contents: DatabaseContents
        /// The size of the file in bytes.
        public var bytes: Int64
    }

    private let source: DataFiles
    private let file: String
    private let replaces: Bool
    private let verifies: Bool

    /// - Parameters:
    ///   - folder: the data folder.
    ///   - file: the new file, of mode 0600.
    ///   - replacing: whether an existing file is replaced. A kill leaves the former file or the new one.
    ///   - verifying: whether the copy is checked completely before it gets its name.
    /// - Throws: `backupFailed`; `databaseIncomplete` and `markUnreadable` if the folder lacks committed data.
    public static func make(
        of folder: String, to file: String, replacing: Bool = false, verifying: Bool = false
    ) throws(StoreError) -> Report {
        let backup = Backup(source: DataFiles(path: folder), file: file, replaces: replacing, verifies: verifying)
        return try StoreError.translating(full: .backup(file, ENOSPC)) {
            try backup.run()
        } other: {
            .backupFailed(path: file, why: "\($0)")
        }
    }

    /// Checks a backup completely, and changes nothing.
    ///
    /// - Throws: `copyUnusable`, `databaseFromNewerVersion`, `databaseFromOlderVersion`.
    public static func verify(_ file: String) throws(StoreError) -> DatabaseContents {
        try StoreError.translating {
            try contents(ofVerified: file)
        } other: {
            .unusable(file, $0)
        }
    }

    private func run() throws -> Report {
        try requireNames()
        let mark = try MarkFile.read(source.mark)
        let draft = try BackupDraft(for: file)
        try Connections.read(source.database) { db in
            try source.requireComplete(db, mark)
            try draft.fill(from: db.sqlite)
        }
        let contents =
            verifies
            ? try Self.contents(ofVerified: draft.path)
            : try Connections.read(draft.path) { try DatabaseContents(readFrom: $0.sqlite) }
        let bytes = draft.size
        try draft.place(replacing: replaces)
        return Report(contents: contents, bytes: bytes)
    }

    private func requireNames() throws(StoreError) {
        var status = stat()
        guard stat(source.database, &status) == 0, status.st_size > 0 else {
            throw .backupFailed(path: file, why: "there is no database \(source.database)")
        }
        if isInDataFolder, DataFolder.isOwn(FolderPath.name(of: file)) {
            throw .backupFailed(path: file, why: "files of this name in the data folder belong to the service")
        }
        if !replaces, access(file, F_OK) == 0 { throw .backupExists(file) }
        // A restore would read the log of another database together with the backup.
        if access(file + "-wal", F_OK) == 0 {
            throw .backupFailed(path: file, why: "\(file)-wal exists, and a restore would read it. Move it away")
        }
    }

    private var isInDataFolder: Bool {
        var (own, others) = (stat(), stat())
        return stat(source.path, &own) == 0 && stat(FolderPath.parent(of: file), &others) == 0
            && own.st_dev == others.st_dev && own.st_ino == others.st_ino
    }

    // MARK: Reading a copy

    private static func contents(ofVerified file: String) throws -> DatabaseContents {
        try Connections.read(file) { db in
            try require(db.sqlite, of: file) { try IntegrityCheck.findings(in: $0).first }
            return try DatabaseContents(readFrom: db.sqlite)
        }
    }

    /// - Parameters:
    ///   - file: for the errors.
    ///   - check: returns what is wrong with the pages; nil if nothing is.
    /// - Throws: `copyUnusable`, `databaseFromNewerVersion`, `databaseFromOlderVersion`.
    static func require(_ db: Database, of file: String, check: (Database) throws -> String?) throws {
        guard try db.tableExists("jobs"), try db.tableExists("grdb_migrations") else {
            throw StoreError.copyUnusable(path: file, why: "it is not a database of fetchd")
        }
        try Schema.requireKnown(db, path: file)
        guard let finding = try check(db) else { return }
        throw StoreError.copyUnusable(path: file, why: "it is damaged: \(finding)")
    }
}

extension StoreError {
    /// - Parameters:
    ///   - full: the error of a full disk, if it has one of its own.
    ///   - other: the error for any other failure of SQLite or of the system.
    static func translating<Value>(
        full: StoreError? = nil, _ body: () throws -> Value, other: (any Error) -> StoreError
    ) throws(StoreError) -> Value {
        do {
            return try body()
        } catch let error as StoreError {
            throw error
        } catch {
            if let full, (error as? DatabaseError)?.resultCode == .SQLITE_FULL { throw full }
            throw other(error)
        }
    }

    /// The error for a copy that SQLite cannot read.
    static func unusable(_ file: String, _ error: any Error) -> StoreError {
        .copyUnusable(path: file, why: (error as? DatabaseError)?.reasonOfCopy(file) ?? "\(error)")
    }
}

extension DatabaseError {
    /// Why the file cannot be read. SQLite's own words name neither the file nor the cause.
    fileprivate func reasonOfCopy(_ file: String) -> String {
        switch resultCode {
        case .SQLITE_NOTADB: return "it is not a database of fetchd"
        case .SQLITE_CORRUPT: return "it is damaged: \(message ?? "\(extendedResultCode)")"
        default: break
        }
        var status = stat()
        if stat(file, &status) != 0 || access(file, R_OK) != 0 { return String(cString: strerror(errno)) }
        if status.st_mode & S_IFMT == S_IFDIR { return "it is a folder" }
        return message ?? "\(extendedResultCode)"
    }
}

/// The file of a backup before the backup is complete. It gets its final name in one step, so that a kill at any moment
/// leaves the former file or the new one.
final class BackupDraft {
    let path: String
    private let file: String
    private let descriptor: Int32
    private var isPlaced = false

    /// Creates `FILE.partial`, or takes it over from a backup that was interrupted.
    ///
    /// - Throws: `backupFailed`.
    init(for file: String) throws(StoreError) {
        self.file = file
        path = file + ".partial"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            isPlaced = true
            throw .backup(file, code)
        }
        do throws(StoreError) { try claim() } catch {
            // The file belongs to another process, or is no file of a backup.
            isPlaced = true
            throw error
        }
    }

    private func claim() throws(StoreError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .backup(file, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .backupFailed(path: file, why: "\(path) exists and is no file")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .backupFailed(path: file, why: "another process writes \(path)")
        }
        guard ftruncate(descriptor, 0) == 0, fchmod(descriptor, 0o600) == 0 else { throw .backup(file, errno) }
    }

    /// Copies the snapshot of the connection. The copy of a database in WAL mode becomes an ordinary file, which can be read
    /// without write access.
    func fill(from db: Database) throws {
        let target = try DatabaseQueue(path: path)
        try target.writeWithoutTransaction { copy in
            // The draft is synced once, when it is complete.
            try copy.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            try db.backup(to: copy)
        }
        try target.close()
        // The versions for writing and reading of the file format (sqlite.org/fileformat2.html, section 1.3.3).
        guard pwrite(descriptor, [UInt8](arrayLiteral: 1, 1), 2, 18) == 2 else { throw StoreError.backup(file, errno) }
    }

    /// The size in bytes.
    var size: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Syncs the file and gives it its name.
    ///
    /// - Throws: `backupFailed`, also if the name is taken and `replacing` is false.
    func place(replacing: Bool) throws(StoreError) {
        guard fsync(descriptor) == 0 else { throw .backup(file, errno) }
        if replacing { try rename() } else { try link() }
        isPlaced = true
        let fault = FolderPath.sync(FolderPath.parent(of: file))
        guard fault == 0 else { throw .backup(file, fault) }
    }

    private func rename() throws(StoreError) {
        guard Glibc.rename(path, file) == 0 else { throw .backup(file, errno) }
    }

    /// Unlike rename(2), link(2) never replaces a file.
    private func link() throws(StoreError) {
        if Glibc.link(path, file) == 0 {
            unlink(path)
            return
        }
        let code = errno
        guard code != EEXIST, access(file, F_OK) != 0 else { throw .backupExists(file) }
        // The file system has no links.
        guard code == EPERM || code == EOPNOTSUPP || code == ENOSYS else { throw .backup(file, code) }
        try rename()
    }

    deinit {
        if !isPlaced { unlink(path) }
        close(descriptor)
    }
}

extension StoreError {
    /// The error of a system call on a backup.
    static func backup(_ file: String, _ code: Int32) -> StoreError {
        .backupFailed(path: file, why: String(cString: strerror(code)))
    }

    static func backupExists(_ file: String) -> StoreError {
        .backupFailed(path: file, why: "the file exists. Use another name, or --force to replace it")
    }
}

/// How much a database holds, for the report of a backup or a check.
public struct DatabaseContents: Sendable, Equatable {
    /// The schema version.
    public var schema: Int
    public var sessions: Int
    public var jobs: Int
    public var events: Int
    public var webhooks: Int
    public var deliveries: Int
    /// The last event that was assigned; 0 if there was none.
    public var lastEvent: EventID

    init(readFrom db: Database) throws {
        func count(_ table: String) throws -> Int { try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") ?? 0 }
        schema = try Schema.number(of: db)
        sessions = try count("sessions")
        jobs = try count("jobs")
        events = try count("events")
        webhooks = try count("webhooks")
        deliveries = try count("deliveries")
        lastEvent = try Store.lastEvent(in: SQLConnection(db))
    }
}

extension DatabaseContents: CustomStringConvertible {
    public var description: String {
        let counts = [
            Self.counted(jobs, "job", "jobs"), Self.counted(sessions, "session", "sessions"),
            Self.counted(events, "event", "events"), Self.counted(webhooks, "webhook", "webhooks"),
        ]
        let deliveries = Self.counted(deliveries, "delivery", "deliveries")
        return "\(counts.joined(separator: ", ")) and \(deliveries); schema version \(schema)"
    }

    private static func counted(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }
}

/// The complete check of a database: every page, index and constraint, and every reference between rows.
enum IntegrityCheck {
    /// The number of findings of each kind that are reported.
    private static let most = 10

    /// - Returns: what is wrong, one text for each finding; empty if nothing is.
    static func findings(in db: Database) throws -> [String] { try damage(in: db) + brokenReferences(in: db) }

    private static func damage(in db: Database) throws -> [String] {
        do {
            let findings = try String.fetchAll(db, sql: "PRAGMA integrity_check(\(most))")
            return findings == ["ok"] ? [] : findings.map { $0.split(separator: "\n").joined(separator: " ") }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return [error.message ?? "\(error)"]
        }
    }

    private static func brokenReferences(in db: Database) throws -> [String] {
        let violations = try Row.fetchCursor(db, sql: "PRAGMA foreign_key_check")
        var findings: [String] = []
        while findings.count < most, let violation = try violations.next() {
            let (table, parent) = (violation["table"] as String, violation["parent"] as String)
            findings.append("a row of \(table) refers to a missing row of \(parent)")
        }
        return findings
    }
}
