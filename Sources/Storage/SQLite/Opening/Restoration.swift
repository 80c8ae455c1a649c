import Downloads
import Formats
import Foundation
import GRDB
import Sealing

/// Replaces the database with a copy, while no service runs.
///
/// Consumers know events, jobs and batches by their identifiers. Identifiers that were assigned after the copy was made
/// are not assigned again: the restored database continues above every identifier that the folder knows.
public struct Restoration {
    public struct Report: Sendable, Equatable {
        public var jobs: Int
        /// The last event before the restore. New events have larger identifiers.
        public var lastEvent: EventID
        /// The new path of the replaced database; nil when the folder had no database.
        public var replaced: String?
        /// Whether the replaced database could not be read. If so, its identifiers are known from the mark only.
        public var replacedIsUnreadable: Bool
        /// Whether the key of the service fits the copy.
        public var key: DatabaseInspection.KeyFinding
    }

    /// Added to the last known event when later events may exist.
    static let reserve: Int64 = 1_000_000

    /// What a restore has done, for tests of its interruption.
    enum Step: CaseIterable { case copied, prepared, marked, logKept, databaseKept, placed }

    private let folder: DataFolder
    private let key: KeyInspection
    private let replacement: DatabaseReplacement
    private let now: Date
    private let onStep: (Step) throws -> Void

    private var draft: String { replacement.draft }

    /// Restores a copy. If a restore is interrupted, the folder has the former database, or the next start completes the
    /// restore.
    ///
    /// - Parameters:
    ///   - file: a database file of fetchd, which is only read. Its log `-wal` is used if it exists.
    ///   - key: where the key of the service comes from, for the report.
    /// - Throws: `folderInUse`; `copyUnusable` and `databaseFromNewerVersion` when the copy can't be restored;
    ///   `outOfSpace`.
    public static func run(
        _ file: String, into folder: String, key: KeySource = .dataFolder, at now: Date = Date()
    ) throws(StoreError) -> Report {
        try run(file, into: folder, key: key, at: now) { _ in }
    }

    static func run(
        _ file: String, into folder: String, key: KeySource = .dataFolder, at now: Date,
        onStep: @escaping (Step) throws -> Void
    ) throws(StoreError) -> Report {
        let restoration = Restoration(try DataFolder(at: folder), KeyInspection(key, folder), at: now, onStep)
        do {
            return try restoration.run(file)
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            throw .outOfSpace
        } catch {
            throw .unusable(file, error)
        }
    }

    private init(
        _ folder: DataFolder, _ key: KeyInspection, at now: Date, _ onStep: @escaping (Step) throws -> Void
    ) {
        (self.folder, self.key) = (folder, key)
        self.now = now
        self.onStep = onStep
        replacement = DatabaseReplacement(folder, onStep)
    }

    private func run(_ file: String) throws -> Report {
        let mark = try? MarkFile.open(in: folder)
        // An earlier restore may have been interrupted.
        if let mark, mark.mark.state == .restoring { _ = try? replacement.complete(mark, at: now) }
        var report: Report
        let restored: Mark
        do {
            (report, restored) = try prepare(file, above: mark?.mark)
        } catch {
            replacement.removeDraft()
            throw error
        }
        // From here on, the next start completes the restore.
        let written = try mark ?? MarkFile.make(restored, in: folder)
        try written.set(restored, in: folder)
        try onStep(.marked)
        report.replaced = try replacement.putInPlace(at: now)
        try written.set(restored.closed, in: folder)
        return report
    }

    /// Makes the draft: a durable copy that continues above all identifiers of the folder.
    private func prepare(_ file: String, above mark: Mark?) throws -> (Report, Mark) {
        _ = try folder.makePrivate()
        try copy(file)
        // The copy has the permissions of the file.
        _ = try folder.makePrivate()
        try verify(file)
        try onStep(.copied)
        let (former, isUnreadable) = formerIdentifiers()
        var seen = former
        seen.lastEvent = max(seen.lastEvent, mark?.position.lastEvent ?? 0)
        let isUncertain = isUnreadable || (mark == nil && FileManager.default.fileExists(atPath: folder.mark))
        if isUncertain { seen.lastEvent += Self.reserve }
        let (history, jobs, lastEvent, key) = try prepare(above: seen)
        try folder.sync()
        try onStep(.prepared)
        let restored = Mark(
            state: .restoring, identity: history.identity,
            position: .init(commits: history.commits, lastEvent: lastEvent))
        return (Report(jobs: jobs, lastEvent: lastEvent, replacedIsUnreadable: isUnreadable, key: key), restored)
    }

    // MARK: The copy

    private func copy(_ file: String) throws {
        replacement.removeDraft()
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
            try Schema.requireKnown(db, path: file)
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
    ) throws -> (history: History, jobs: Int, lastEvent: EventID, key: DatabaseInspection.KeyFinding) {
        let database = try DatabaseQueue(path: draft)
        try Schema.migrator.migrate(database)
        let prepared = try database.inDatabase { db in
            // One file without a log, and a sync for every write.
            try db.execute(sql: "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA")
            try db.inTransaction {
                try seen.raise(SQLConnection(db))
                try db.execute(
                    sql: "UPDATE history SET identity = lower(hex(randomblob(10))), began_at = ?",
                    arguments: [now.milliseconds])
                return .commit
            }
            guard let history = try History.read(SQLConnection(db)) else {
                throw StoreError.databaseUnreadable(path: draft, why: "it has no history")
            }
            return (
                history, try Int.fetchOne(db, sql: "SELECT count(*) FROM jobs") ?? 0,
                try Store.lastEvent(in: SQLConnection(db)), try key.finding(SQLConnection(db))
            )
        }
        try database.close()
        try folder.sync(file: draft)
        return prepared
    }

    // MARK: The database that is there

    /// - Returns: the identifiers, none when the folder has no database; and whether the database could not be read.
    private func formerIdentifiers() -> (HighestIdentifiers, isUnreadable: Bool) {
        // SQLite would remove the log of an empty file.
        guard let size = try? folder.size(of: folder.database) else { return (HighestIdentifiers(), false) }
        guard size > 0 else { return (HighestIdentifiers(), true) }
        do {
            return (
                try folder.inspectDatabase {
                    try $0.inDatabase { try HighestIdentifiers(readFrom: SQLConnection($0)) }
                }, false
            )
        } catch {
            return (HighestIdentifiers(), true)
        }
    }
}
