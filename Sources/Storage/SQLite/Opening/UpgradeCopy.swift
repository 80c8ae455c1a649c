import Foundation
import GRDB
import Logging

/// Keeps a copy of the database before its schema is upgraded, so that an administrator can return to the version before.
///
/// The copy is `fetchd.sqlite.schema-N`, and there is one of them: the next upgrade replaces it. A database whose secrets
/// are not sealed yet is not copied, because the copy would keep them in plain text.
struct UpgradeCopy {
    private let folder: DataFolder
    private let log: Logger

    init(_ folder: DataFolder, _ log: Logger) {
        self.folder = folder
        self.log = log
    }

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

    /// The version of a database that an upgrade is about to change; nil if there is none, or nothing to keep.
    private static func schemaToKeep(_ db: SQLConnection) throws -> Int? {
        guard try !Schema.migrator.hasCompletedMigrations(db.sqlite), try db.hasTable("sealing"),
            try SealingStep.read(db) == .done
        else { return nil }
        return try Schema.number(of: db.sqlite)
    }

    private func write(_ connections: Connections, to copy: String) throws {
        let draft = try BackupDraft(for: copy)
        let target = try DatabaseQueue(path: draft.path)
        try target.writeWithoutTransaction { db in
            // The draft is synced once, when it is complete.
            try db.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            try connections.read { try $0.sqlite.backup(to: db) }
        }
        try target.close()
        try draft.leaveWALMode()
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
