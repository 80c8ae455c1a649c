import Foundation
import GRDB

/// Version 6: failed syncs of parts, and jobs that wait for a downloads folder that fails.
extension Schema {
    static func addFailingStorage(_ db: Database) throws {
        try db.execute(sql: failedSyncs)
        try addWaitReason(db)
    }

    /// `jobs.sync_failed`: the last attempt wrote bytes that could not be synced. The next attempt reports it when it
    /// begins.
    private static let failedSyncs = """
        ALTER TABLE jobs ADD COLUMN sync_failed INTEGER NOT NULL DEFAULT 0 CHECK (sync_failed IN (0, 1));

        """

    /// A weaker CHECK leaves every row valid, so the migration replaces the text of the table without copying it
    /// (sqlite.org/lang_altertable.html, section 7, the second procedure).
    private static func addWaitReason(_ db: Database) throws {
        let version = try Int.fetchOne(db, sql: "PRAGMA schema_version") ?? 0
        let text = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'jobs'")
        let changed = text?.replacingOccurrences(of: "'network', 'space'", with: "'network', 'space', 'storage'")
        try db.execute(sql: "PRAGMA writable_schema = ON")
        try db.execute(
            sql: "UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = 'jobs'", arguments: [changed])
        try db.execute(sql: "PRAGMA schema_version = \(version + 1); PRAGMA writable_schema = OFF")
    }
}
