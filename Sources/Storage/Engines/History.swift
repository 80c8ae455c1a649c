import Formats
import Foundation

/// The row of the table `history`: what the database records about itself.
struct History: Sendable, Equatable {
    var identity: String
    var commits: Int64
    /// When the database was created or restored; nil when an earlier version created it.
    var beganAt: Date?
    /// The largest identifier that was assigned before a restore.
    var lastID: ULID?

    /// - Returns: nil when the database was written by a version without this table.
    static func read(_ db: SQLConnection) throws -> History? {
        guard try db.hasTable("history"), let row = try db.row("SELECT * FROM history") else {
            return nil
        }
        return History(
            identity: row["identity"], commits: row["commits"], beganAt: row.optionalTime("began_at"),
            lastID: (row["last_id"] as String?).flatMap { ULID($0) })
    }
}
