import Foundation
import GRDB
import Glibc

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
        do {
            return try backup.run()
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            throw .backup(file, ENOSPC)
        } catch {
            throw .backupFailed(path: file, why: "\(error)")
        }
    }

    /// Checks a backup completely, and changes nothing.
    ///
    /// - Throws: `copyUnusable`, `databaseFromNewerVersion`.
    public static func verify(_ file: String) throws(StoreError) -> DatabaseContents {
        do {
            return try contents(ofVerified: file)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unusable(file, error)
        }
    }

    private func run() throws -> Report {
        try requireNames()
        let mark = try MarkFile.read(source.mark)
        let draft = try BackupDraft(for: file)
        try copy(to: draft.path, mark)
        try draft.leaveWALMode()
        let contents =
            verifies ? try Self.contents(ofVerified: draft.path) : try Self.read(draft.path, DatabaseContents.init)
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

    /// - Parameter mark: was read before the database, so the database has at least its commits.
    private func copy(to draft: String, _ mark: Mark?) throws {
        var configuration = Connections.configuration()
        configuration.readonly = true
        let database = try DatabaseQueue(path: source.database, configuration: configuration)
        defer { try? database.close() }
        let target = try DatabaseQueue(path: draft)
        try database.inDatabase { db in
            try db.inTransaction(.deferred) {
                // This read begins the snapshot.
                try source.requireComplete(SQLConnection(db), mark)
                try target.writeWithoutTransaction { copy in
                    // The draft is synced once, when it is complete.
                    try copy.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
                    try db.backup(to: copy)
                }
                return .commit
            }
        }
        try target.close()
    }

    // MARK: Reading a copy

    private static func contents(ofVerified file: String) throws -> DatabaseContents {
        try read(file) { db in
            guard try db.tableExists("jobs"), try db.tableExists("grdb_migrations") else {
                throw StoreError.copyUnusable(path: file, why: "it is not a database of fetchd")
            }
            try Schema.requireKnown(db, path: file)
            if let finding = try IntegrityCheck.findings(in: db).first {
                throw StoreError.copyUnusable(path: file, why: "it is damaged: \(finding)")
            }
            return try DatabaseContents(readFrom: db)
        }
    }

    private static func read<Value>(_ file: String, _ body: (Database) throws -> Value) throws -> Value {
        var configuration = Configuration()
        configuration.readonly = true
        let database = try DatabaseQueue(path: file, configuration: configuration)
        defer { try? database.close() }
        return try database.inDatabase(body)
    }
}

extension StoreError {
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
