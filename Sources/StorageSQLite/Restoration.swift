import Downloads
import Formats
import Foundation
import GRDB
import Sealing
import Storage

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
    /// - Throws: `folderInUse`; `copyUnusable`, `databaseFromNewerVersion` and `databaseFromOlderVersion` when the copy can't be restored;
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
        let dataFolder = try DataFolder(at: folder)
        let restoration = Restoration(
            folder: dataFolder, key: KeyInspection(key, folder),
            replacement: DatabaseReplacement(folder: dataFolder, onStep: onStep), now: now, onStep: onStep)
        return try StoreError.translating(full: .outOfSpace) {
            try restoration.run(file)
        } other: {
            .unusable(file, $0)
        }
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
        try database.inDatabase { try Backup.require($0, of: file, check: StartupCheck.quickCheck) }
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
            return (try folder.inspectDatabase { try HighestIdentifiers(readFrom: SQLConnection($0)) }, false)
        } catch {
            return (HighestIdentifiers(), true)
        }
    }
}

/// Puts the draft of a restore in the place of the database, and keeps the former database.
///
/// While this happens, the mark has the state `restoring` and the identity of the draft. Each step can be repeated, so
/// that a start completes a restore that was interrupted.
struct DatabaseReplacement {
    let folder: DataFolder
    var onStep: (Restoration.Step) throws -> Void = { _ in }

    var draft: String { folder.database + ".restoring" }

    func removeDraft() { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(draft + suffix) } }

    /// Completes an interrupted restore.
    ///
    /// - Throws: `restoreUnfinished` if the draft is lost and not in place.
    func complete(_ mark: MarkFile, at now: Date) throws -> String? {
        let identity = mark.mark.identity
        var kept: String?
        if Self.identity(of: draft) == identity {
            kept = try putInPlace(at: now)
        } else if Self.identity(of: folder.database) != identity {
            throw StoreError.restoreUnfinished(path: folder.path)
        }
        try mark.set(mark.mark.closed, in: folder)
        return kept
    }

    /// Moves the log first: without its database it would damage any other one.
    ///
    /// - Returns: the new path of the former database; nil if there is none.
    func putInPlace(at now: Date) throws -> String? {
        let hasFormer = try folder.size(of: folder.database) != nil
        let kept = try nameOfInterrupted() ?? freeName(at: now)
        if try folder.size(of: folder.log) != nil {
            try folder.rename(folder.log, to: kept + (hasFormer ? Self.log : ".log-alone"))
        }
        try onStep(.logKept)
        unlink(folder.index)
        if hasFormer { try folder.rename(folder.database, to: kept) }
        try onStep(.databaseKept)
        try folder.rename(draft, to: folder.database)
        try folder.sync()
        try onStep(.placed)
        return hasFormer ? kept : nil
    }

    private static let log = "-wal"

    /// The name for a former database whose log was moved already.
    private func nameOfInterrupted() throws(StoreError) -> String? {
        let names = Set(try folder.fileNames())
        let prefix = FolderPath.name(of: folder.database) + ".replaced-"
        let logs = names.filter { $0.hasPrefix(prefix) && $0.hasSuffix(Self.log) }
        let kept = logs.map { String($0.dropLast(Self.log.count)) }.filter { !names.contains($0) }
        return kept.max().map { "\(folder.path)/\($0)" }
    }

    private func freeName(at now: Date) -> String {
        let stamp = now.rfc3339.filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        var name = "\(folder.database).replaced-\(stamp)"
        while [name, name + Self.log].contains(where: FileManager.default.fileExists) { name += "-1" }
        return name
    }

    /// `history.identity` of a database; nil if it cannot be read.
    private static func identity(of file: String) -> String? { try? Connections.read(file, History.read)?.identity }
}

/// The largest identifiers that a database has assigned, of each kind that clients know.
struct HighestIdentifiers: Sendable, Equatable {
    var lastEvent: EventID = 0
    /// Of jobs, parts and deliveries; nil when none was assigned.
    var lastID: String?
    /// The number of the last batch of each session.
    var batches: [String: Int64] = [:]
    /// Clients never see this number, but deliveries refer to it.
    var lastWebhook: Int64 = 0

    init() {}

    init(readFrom db: SQLConnection) throws {
        lastEvent = try Store.lastEvent(in: db)
        lastWebhook = try db.value("SELECT seq FROM sqlite_sequence WHERE name = 'webhooks'", as: Int64.self) ?? 0
        let ids = try db.rows(OpenedDatabase.highestIdentifiers).compactMap { try $0[0] as String? }.compactMap {
            $0.split(separator: "_").last
        }
        lastID = (ids.map(String.init) + [try History.read(db)?.lastID?.description].compactMap(\.self)).max()
        try note(db.rows("SELECT session, max(number) AS number FROM batches GROUP BY session"))
        try note(db.rows("SELECT * FROM given_batches"))
    }

    private mutating func note(_ rows: [SQLRow]) throws {
        for row in rows { try batches[row["session"]] = max(batches[row["session"]] ?? 0, row["number"]) }
    }

    /// Makes another database continue above these identifiers.
    func raise(_ db: SQLConnection) throws {
        try raise("events", to: lastEvent, db)
        try raise("webhooks", to: lastWebhook, db)
        try db.run("UPDATE history SET last_id = max(coalesce(last_id, ''), ?)", [lastID ?? ""])
        for (session, number) in batches {
            try db.run(
                """
                INSERT INTO given_batches (session, number) VALUES (?1, ?2)
                ON CONFLICT (session) DO UPDATE SET number = max(number, ?2)
                """, [session, number])
        }
    }

    private func raise(_ table: String, to number: Int64, _ db: SQLConnection) throws {
        let raised = try db.changedRows("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", [number, table])
        guard raised == 0, number > 0 else { return }
        try db.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table, number])
    }
}
