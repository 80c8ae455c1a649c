import Downloads
import Formats
import Foundation

/// The stored clock, and the stored times that show when the service last ran.
struct StoredClock: Sendable {
    /// nil in a database that was never used.
    var reading: ClockReading?
    /// The time of the last event, if it is later than the reading.
    var newestEvent: Date?
    /// The stored jumps, oldest first, with times on the present clock.
    var jumps: [ClockJump]
    /// The number of the last stored jump; 0: none.
    var lastJump: Int64

    init(in db: SQLConnection) throws {
        let row = try db.row("SELECT * FROM clock")
        reading = try row.map { row in
            try ClockReading(time: row.time("time"), uptime: .milliseconds(row["uptime"] as Int64), boot: row["boot"])
        }
        newestEvent = try db.time(
            "SELECT time FROM events WHERE id > ? ORDER BY id DESC LIMIT 1", [row?["last_event"] ?? 0])
        jumps = try Self.jumps(in: db, after: 0)
        lastJump = try db.value("SELECT max(number) FROM clock_jumps") ?? 0
    }

    static func jumps(in db: SQLConnection, after number: Int64) throws -> [ClockJump] {
        try db.rows("SELECT at, by FROM clock_jumps WHERE number > ? ORDER BY number", [number]).map { row in
            try ClockJump(by: Double(row["by"] as Int64) / 1000, to: row.time("at"), isAtStart: false)
        }
    }

}

extension SQLConnection {
    /// The time in the first column of the first row; nil if there is no row, or if it is NULL.
    func time(_ sql: String, _ arguments: SQLArguments = []) throws -> Date? {
        try value(sql, arguments, as: Int64.self).map(Date.init(milliseconds:))
    }
}

/// Follows the wall clock. A jump moves future times, so that delays keep their length. Past times stay as the clock
/// showed them. Times that clients name (`not_before`, `deadline`) stay unchanged.
extension Transaction {
    func follow(_ change: ClockChange, longestDeliveryDelay: TimeInterval) throws {
        if let jump = change.jump {
            let milliseconds = Int64((jump.by * 1000).rounded())
            try move(by: milliseconds)
            try run(
                "INSERT INTO clock_jumps (last_event, at, by) VALUES (?, ?, ?)",
                [try lastEvent(), jump.to.milliseconds, milliseconds])
            for kind in WorkKind.allCases { wake(kind) }
        }
        if change.isFirst || change.jump != nil { try bound(longestDeliveryDelay: longestDeliveryDelay) }
        try run(
            """
            INSERT INTO clock (id, time, uptime, boot, last_event) VALUES (1, ?1, ?2, ?3, ?4)
            ON CONFLICT (id) DO UPDATE SET time = ?1, uptime = ?2, boot = ?3, last_event = ?4
            """,
            [
                change.reading.time.milliseconds, change.reading.uptime.milliseconds, change.reading.boot,
                try lastEvent(),
            ])
    }

    /// Arguments to compare a time that a client named: with `now` if the job was created at or after `jump`, else with
    /// `surely` (`ClockConfidence.hasCome`).
    var clientTimes: SQLArguments {
        [
            "now": now.milliseconds, "surely": now.addingTimeInterval(-confidence.doubt(at: now)).milliseconds,
            "jump": confidence.jumpedAt?.milliseconds ?? .max,
        ]
    }

    /// Seconds by which jumps after an event make it look older than it is.
    func excessAge(of event: EventID) throws -> TimeInterval {
        try Double(db.value("SELECT sum(by) FROM clock_jumps WHERE last_event >= ?", [event]) ?? 0 as Int64) / 1000
    }

    /// Removes jumps that are older than all events and no longer in doubt.
    func pruneClockJumps() throws {
        try run(
            """
            DELETE FROM clock_jumps WHERE at <= ? AND last_event < (SELECT coalesce(min(id), last_event + 1) FROM events)
            """, [now.addingTimeInterval(-ClockConfidence.quietPeriod).milliseconds])
    }

    // MARK: A jump

    /// - Parameter jump: milliseconds.
    private func move(by jump: Int64) throws {
        for statement in Self.shifts { try run(statement, [jump]) }
        // The times of webhooks are in JSON.
        for webhook in try webhooksWithMoments() { try update(webhook.moved(by: Double(jump) / 1000)) }
    }

    private static let shifts = Schema.tables.flatMap(\.shifts)

    private func webhooksWithMoments() throws -> [Webhook] {
        // An unreadable webhook is reported when it is read. It must not make every commit fail.
        try rows("SELECT * FROM webhooks WHERE failing_since IS NOT NULL OR former_secrets <> '[]'")
            .compactMap { try? WebhookRow.webhook($0, sealer) }
    }

    // MARK: Bounds

    /// Limits times that a wrong clock has left too far in the future: no wait is longer than the longest possible
    /// delay (`LongestDelay.swift`).
    private func bound(longestDeliveryDelay: TimeInterval) throws {
        try boundWaits()
        try boundBatches()
        try boundDeliveries(longestDeliveryDelay)
        try run("UPDATE parts SET expires_at = ?1 + lifetime WHERE expires_at > ?1 + lifetime", [now.milliseconds])
        try run("UPDATE idempotency_keys SET created_at = ?1 WHERE created_at > ?1", [now.milliseconds])
        for webhook in try webhooksWithMoments() where webhook.bounded(at: now) != webhook {
            try update(webhook.bounded(at: now))
        }
    }

    private func boundWaits() throws {
        var strictest = RetryPolicy()
        strictest.maxSeconds = 0
        for reason in Wait.Kind.allCases {
            // Waits that every policy allows need no check.
            guard let shortest = strictest.longestDelay(of: reason) else { continue }
            let late = try rows(
                JobRow.select + "WHERE jobs.retry_at > ? AND jobs.reason = ?",
                [now.addingTimeInterval(shortest).milliseconds, reason.rawValue]
            ).compactMap { try? JobRow.job($0, sealer) }
            for job in late { try boundWait(of: job, reason) }
        }
    }

    private func boundWait(of job: Job, _ reason: Wait.Kind) throws {
        let policy = ResolvedSpec(job, in: try configuration(of: job.session)).retry
        guard let until = job.state.wait?.until, let delay = policy.longestDelay(of: reason) else { return }
        let bounded = until.bounded(by: delay, from: now)
        guard bounded < until else { return }
        try run(
            "UPDATE jobs SET retry_at = ?, revision = revision + 1 WHERE id = ?", [bounded.milliseconds, job.id.text])
        forget(job.id)
        wake(.jobs)
    }

    private func boundBatches() throws {
        let late = try rows(
            "SELECT session, number, due_at FROM batches WHERE state = 'due' AND due_at > ?", [now.milliseconds])
        for row in late {
            let delay = try session(Name(trusted: row["session"])).finishDelay
            let due = try row.time("due_at").bounded(by: delay, from: now)
            try run(
                "UPDATE batches SET due_at = ? WHERE session = ? AND number = ?",
                [due.milliseconds, row["session"] as String, row["number"] as Int])
            wake(.batches)
        }
    }

    private func boundDeliveries(_ longestDelay: TimeInterval) throws {
        let latest = now.addingTimeInterval(longestDelay).milliseconds
        for column in ["next_attempt_at", "scheduled_at", "not_before"] {
            try run("UPDATE deliveries SET \(column) = ?1 WHERE state = 'pending' AND \(column) > ?1", [latest])
        }
        wake(.deliveries)
    }
}
