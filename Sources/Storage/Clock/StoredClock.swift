import Foundation

/// The stored clock, and the stored times that show when the service last ran.
struct StoredClock: Sendable {
    /// nil in a database that was never used, or that only versions without this table have used.
    var reading: ClockReading?
    /// The time of the last event, if it is later than the reading.
    var newestEvent: Date?
    /// The stored jumps, oldest first, with times on the present clock.
    var jumps: [ClockJump]
    /// The number of the last stored jump; 0: none.
    var lastJump: Int64

    init(in db: SQLConnection) throws {
        let row = try db.row("SELECT * FROM clock")
        reading = row.map { row in
            ClockReading(time: row.time("time"), uptime: .milliseconds(row["uptime"] as Int64), boot: row["boot"])
        }
        newestEvent = try db.row(
            "SELECT time FROM events WHERE id > ? ORDER BY id DESC LIMIT 1", [row?["last_event"] ?? 0])?.time("time")
        jumps = try Self.jumps(in: db, after: 0)
        lastJump = try db.value("SELECT max(number) FROM clock_jumps") ?? 0
    }

    /// The stored jumps after this one, oldest first.
    static func jumps(in db: SQLConnection, after number: Int64) throws -> [ClockJump] {
        try db.rows("SELECT at, by FROM clock_jumps WHERE number > ? ORDER BY number", [number]).map { row in
            ClockJump(by: Double(row["by"] as Int64) / 1000, to: row.time("at"), isAtStart: false)
        }
    }

    /// The confidence at the start of a process.
    func confidence(at now: Date) -> ClockConfidence { ClockConfidence(steadySince: now, jumps: jumps) }
}
