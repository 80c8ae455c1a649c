import Downloads
import Formats
import Foundation
import GRDB

/// Replaces the database with a copy, while no service runs.
///
/// Consumers know events, jobs and batches by their identifiers. Identifiers that were assigned after the copy was made
/// are not assigned again: the restored database continues above every identifier that the folder knows.
public struct Restoration: Sendable {
    public struct Report: Sendable, Equatable {
        public var jobs: Int
        /// The last event before the restore. New events have larger identifiers.
        public var lastEvent: EventID
        /// The new path of the replaced database; nil when the folder had no database.
        public var replaced: String?
        /// Whether the replaced database could not be read. If so, its identifiers are known from the mark only.
        public var replacedIsUnreadable: Bool
    }

    /// Added to the last known event when later events may exist.
    static let reserve: Int64 = 1_000_000

    private let folder: DataFolder
    private let draft: String
    private let now: Date

    /// Restores a copy. If a restore is interrupted, no service starts on the folder until the restore is repeated.
    ///
    /// - Parameter file: a database file of fetchd, which is only read. Its log `-wal` is used if it exists.
    /// - Throws: `folderInUse`; `copyUnusable` and `databaseFromNewerVersion` when the copy can't be restored;
    ///   `outOfSpace`.
    public static func run(_ file: String, into folder: String, at now: Date = Date()) throws(StoreError) -> Report {
        let restoration = Restoration(try DataFolder(at: folder), at: now)
        do {
            defer { restoration.removeDraft() }
            return try restoration.run(file)
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            throw .outOfSpace
        } catch {
            throw .copyUnusable(path: file, why: "\(error)")
        }
    }

    private init(_ folder: DataFolder, at now: Date) {
        self.folder = folder
        self.now = now
        draft = folder.database + ".restoring"
    }

    private func run(_ file: String) throws -> Report {
        _ = try folder.makePrivate()
        try copy(file)
        // The copy has the permissions of the file.
        _ = try folder.makePrivate()
        try verify(file)
        let mark = try? MarkFile.open(in: folder)
        let (former, isUnreadable) = formerIdentifiers()
        var seen = former
        seen.lastEvent = max(seen.lastEvent, mark?.mark.position.lastEvent ?? 0)
        let isUncertain = isUnreadable || (mark == nil && FileManager.default.fileExists(atPath: folder.mark))
        if isUncertain { seen.lastEvent += Self.reserve }
        let (history, jobs, lastEvent) = try prepare(above: seen)

        var restored = Mark(
            state: .restoring, identity: history.identity,
            position: .init(commits: history.commits, lastEvent: lastEvent))
        let written = try mark ?? MarkFile.make(restored, in: folder)
        try written.set(restored, in: folder)
        let replaced = try putInPlace()
        restored.state = .clean
        try written.set(restored, in: folder)
        return Report(jobs: jobs, lastEvent: lastEvent, replaced: replaced, replacedIsUnreadable: isUnreadable)
    }

    // MARK: The copy

    private func copy(_ file: String) throws {
        removeDraft()
        guard let size = try? folder.size(of: file), size > 0 else {
            throw StoreError.copyUnusable(path: file, why: "it is missing or empty")
        }
        try Self.copy(file, to: draft)
        if let size = try folder.size(of: file + "-wal"), size > 0 { try Self.copy(file + "-wal", to: draft + "-wal") }
    }

    private static func copy(_ from: String, to: String) throws {
        do {
            try FileManager.default.copyItem(atPath: from, toPath: to)
        } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
            throw StoreError.outOfSpace
        } catch {
            throw StoreError.copyUnusable(path: from, why: error.localizedDescription)
        }
    }

    private func verify(_ file: String) throws {
        let database = try DatabaseQueue(path: draft)
        try database.inDatabase { db in
            if try Schema.migrator.hasBeenSuperseded(db) { throw StoreError.databaseFromNewerVersion(path: file) }
            guard try db.tableExists("jobs"), try db.tableExists("grdb_migrations") else {
                throw StoreError.copyUnusable(path: file, why: "it is not a database of fetchd")
            }
            if let finding = try StartupCheck.quickCheck(db) {
                throw StoreError.copyUnusable(path: file, why: "it is damaged: \(finding)")
            }
        }
        try database.close()
    }

    /// Migrates the copy and raises its identifiers. The result is one durable file without a log.
    private func prepare(
        above seen: HighestIdentifiers
    ) throws -> (history: History, jobs: Int, lastEvent: EventID) {
        let database = try DatabaseQueue(path: draft)
        try Schema.migrator.migrate(database)
        let prepared = try database.inDatabase { db in
            // One file without a log, and a sync for every write.
            try db.execute(sql: "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA")
            try db.inTransaction {
                try seen.raise(db)
                try db.execute(
                    sql: "UPDATE history SET identity = lower(hex(randomblob(10))), began_at = ?",
                    arguments: [now.milliseconds])
                return .commit
            }
            guard let history = try History.read(db) else {
                throw StoreError.databaseUnreadable(path: draft, why: "it has no history")
            }
            return (history, try Int.fetchOne(db, sql: "SELECT count(*) FROM jobs") ?? 0, try Store.lastEvent(in: db))
        }
        try database.close()
        try folder.sync(file: draft)
        return prepared
    }

    private func removeDraft() {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(draft + suffix) }
    }

    // MARK: The database that is there

    /// - Returns: the identifiers, none when the folder has no database; and whether the database could not be read.
    private func formerIdentifiers() -> (HighestIdentifiers, isUnreadable: Bool) {
        // SQLite would remove the log of an empty file.
        guard let size = try? folder.size(of: folder.database) else { return (HighestIdentifiers(), false) }
        guard size > 0 else { return (HighestIdentifiers(), true) }
        do {
            return (try folder.inspectDatabase { try $0.inDatabase(HighestIdentifiers.init(readFrom:)) }, false)
        } catch {
            return (HighestIdentifiers(), true)
        }
    }

    /// Moves the log together with its database. The log would damage any other database.
    private func putInPlace() throws -> String? {
        let stamp = now.rfc3339.filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        var kept = "\(folder.database).replaced-\(stamp)"
        while FileManager.default.fileExists(atPath: kept) { kept += "-1" }
        let hasFormer = try folder.size(of: folder.database) != nil
        if hasFormer { try folder.rename(folder.database, to: kept) }
        if try folder.size(of: folder.log) != nil { try folder.rename(folder.log, to: kept + "-wal") }
        unlink(folder.index)
        try folder.rename(draft, to: folder.database)
        try folder.sync()
        return hasFormer ? kept : nil
    }
}
