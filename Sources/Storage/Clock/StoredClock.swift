import Foundation
import GRDB

/// What is stored of the clock, and what else tells when the service was alive.
struct StoredClock: Sendable {
    /// nil in a database that was never used, or not since it knows of this.
    var reading: ClockReading?
    /// Of the last event, where it came after that reading.
    var newestEvent: Date?
    /// Oldest first, on the present clock.
    var jumps: [ClockJump]

    init(in db: Database) throws {
        let row = try Row.fetchOne(db, sql: "SELECT * FROM clock")
        reading = row.map { row in
            ClockReading(time: row.time("time"), uptime: .milliseconds(row["uptime"] as Int64), boot: row["boot"])
        }
        newestEvent = try Row.fetchOne(
            db, sql: "SELECT time FROM events WHERE id > ? ORDER BY id DESC LIMIT 1",
            arguments: [row?["last_event"] ?? 0]
        )?.time("time")
        jumps = try Row.fetchAll(db, sql: "SELECT at, by FROM clock_jumps ORDER BY number").map { row in
            ClockJump(by: Double(row["by"] as Int64) / 1000, to: row.time("at"), isAtStart: false)
        }
    }

    /// At the start of a process.
    func confidence(at now: Date) -> ClockConfidence { ClockConfidence(steadySince: now, jumps: jumps) }
}
