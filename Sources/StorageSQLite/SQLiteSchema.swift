import Foundation
import GRDB
import Logging
import Storage

/// The migrations of SQLite. Their names are stored in the database.
extension Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("18: places in the queue", merging: former) { db, _ in try run(18, in: db) }
        migrator.registerMigration("19: nodes") { db in try run(19, in: db) }
        migrator.registerMigration("20: held jobs, expected acknowledgements") { db in try run(20, in: db) }
        migrator.registerMigration("21: names of indexes") { db in try run(21, in: db) }
        migrator.registerMigration("22: hosts") { db in try run(22, in: db) }
        migrator.registerMigration("23: starts that nodes claim") { db in try run(23, in: db) }
        migrator.registerMigration("24: imports") { db in try run(24, in: db) }
        migrator.registerMigration("25: consumers, heads of deliveries, keys of webhooks") { db in try run(25, in: db) }
        migrator.registerMigration("26: digests that servers have stated") { db in try run(26, in: db) }
        migrator.registerMigration("27: locations") { db in try run(27, in: db) }
        migrator.registerMigration("28: uploads to buckets") { db in try run(28, in: db) }
        migrator.registerMigration("29: uploads of files that grow") { db in try run(29, in: db) }
        return migrator
    }

    private static func run(_ version: Int, in db: Database) throws {
        for statement in statements(of: version, for: .sqlite) { try db.execute(sql: statement) }
    }

    /// The migrations that led to the baseline. A database of version 18 records them, until it is upgraded.
    private static let former: Set = [
        "1: sessions, jobs, journal, webhooks", "2: help, acknowledgement, secrets, idempotency",
        "3: moments, mirrors, expiring parts", "4: parts with gaps", "5: digests of parts", "6: failing storage",
        "7: the clock", "8: history", "9: redelivery", "10: counts", "11: endpoints of webhooks", "12: tokens",
        "13: sealed secrets", "14: reach of webhooks", "15: settings of the service", "16: traces of jobs",
        "17: throughput",
    ]

    /// The schema version of a database; 0 if it is none of fetchd.
    static func number(of db: Database) throws -> Int {
        try migrator.appliedIdentifiers(db).compactMap(number).max() ?? 0
    }

    /// Refuses a database that this program cannot read and upgrade. Nothing is written before this call.
    ///
    /// - Throws: `databaseFromNewerVersion`, `databaseFromOlderVersion`.
    /// - Parameter path: of the database, for the error.
    static func requireKnown(_ db: Database, path: String) throws {
        let (applied, number) = (try migrator.appliedIdentifiers(db), try number(of: db))
        guard applied.subtracting(former).isSubset(of: migrator.migrations) else {
            throw StoreError.databaseFromNewerVersion(path: path, schema: number, known: latest)
        }
        guard number != 0 else { return }
        // Version 0.2.0 was killed before it had encrypted the secrets of an earlier version.
        let isUnsealed = try number >= baseline && String.fetchOne(db, sql: "SELECT step FROM sealing") == "seal"
        guard number >= baseline, !isUnsealed else {
            throw StoreError.databaseFromOlderVersion(path: path, schema: number)
        }
    }

    /// - Parameter migration: the name of a migration, such as `19: nodes`.
    static func number(_ migration: String) -> Int? { migration.split(separator: ":").first.flatMap { Int($0) } }
}

/// Keeps a copy of the database before its schema is upgraded, so that an administrator can return to the version before.
///
/// The copy is `fetchd.sqlite.schema-N`, and there is one of them: the next upgrade replaces it.
struct UpgradeCopy {
    let folder: DataFolder
    let log: Logger

    /// - Parameter largest: bytes. A larger database is not copied.
    func make(_ connections: Connections, largest: Int64) throws {
        guard let schema = try connections.read(Self.schemaToKeep), !isKept(try connections.read(History.read)) else {
            return
        }
        let size = (try folder.size(of: folder.database) ?? 0) + (try folder.size(of: folder.log) ?? 0)
        guard size <= largest, size < folder.freeBytes / 2 else {
            return log.warning(
                "fetchd upgrades the database from the schema version \(schema) without a copy: \(size <= largest ? "the disk has too little space for one" : "the database is large"). To return to the version before, you need your own backup."
            )
        }
        let copy = "\(folder.database)\(Self.suffix)\(schema)"
        try write(connections, to: copy)
        for other in try copies() where other != copy { unlink(other) }
        log.notice(
            "fetchd upgrades the database from the schema version \(schema) to \(Schema.latest), and keeps a copy as \(copy)."
        )
    }

    private static let suffix = ".schema-"

    /// The version of a database that an upgrade is about to change; nil if there is none.
    private static func schemaToKeep(_ db: SQLConnection) throws -> Int? {
        let schema = try Schema.number(of: db.sqlite)
        // The copy could hold values that a former key has sealed.
        guard schema > 0, schema < Schema.latest, try SealingStep.read(db) == .done else { return nil }
        return schema
    }

    private func write(_ connections: Connections, to copy: String) throws {
        let draft = try BackupDraft(for: copy)
        try connections.read { try draft.fill(from: $0.sqlite) }
        try draft.place(replacing: true)
    }

    private func copies() throws(StoreError) -> [String] {
        let prefix = FolderPath.name(of: folder.database) + Self.suffix
        return try folder.fileNames().filter { $0.hasPrefix(prefix) }.map { "\(folder.path)/\($0)" }
    }

    /// Whether an upgrade that was interrupted has kept this state already. Migrations do not count as commits.
    private func isKept(_ history: History?) -> Bool {
        guard let history, let copies = try? copies() else { return false }
        return copies.contains { copy in
            guard !copy.hasSuffix(".partial") else { return false }
            let kept = try? Connections.read(copy, History.read)
            return kept?.identity == history.identity && kept?.commits == history.commits
        }
    }
}

extension DataFolder {
    /// The bytes that the file system has left for this user; 0 if that is unknown.
    var freeBytes: Int64 {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return 0 }
        return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }
}
