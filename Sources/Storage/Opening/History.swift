import Formats
import Foundation
import GRDB

/// What the database says about itself: the row of the table of that name.
struct History: Sendable, Equatable {
    var identity: String
    var commits: Int64
    /// When it was made or restored; nil: by an earlier version, that is not jobCache.
    var beganAt: Date?
    /// The largest identifier that was given before a restore.
    var lastID: ULID?

    /// nil: the database is of a version before there was one.
    static func read(_ db: Database) throws -> History? {
        guard try db.tableExists("history"), let row = try Row.fetchOne(db, sql: "SELECT * FROM history") else {
            return nil
        }
        return History(
            identity: row["identity"], commits: row["commits"], beganAt: row.optionalTime("began_at"),
            lastID: (row["last_id"] as String?).flatMap { ULID($0) })
    }
}
