import Downloads
import Formats
import Foundation

enum SessionRow {
    static func session(_ row: SQLRow, _ sealer: Sealer) throws -> Session {
        let place = SecretColumn.sessionConfiguration.place(row["id"] as String)
        let configuration = try sealer.open(row["configuration"], at: place).text
        return Session(
            id: Name(trusted: row["id"]),
            configuration: try Stored.value(SessionConfiguration.self, from: configuration),
            revision: row["revision"], hasConsumer: row["has_consumer"], isFinishing: row["is_finishing"],
            createdAt: row.time("created_at"))
    }

    static func status(_ row: SQLRow, in db: SQLConnection, _ sealer: Sealer) throws -> SessionStatus {
        let session = try session(row, sealer)
        let name = session.id.text
        let batch = try db.row("SELECT * FROM batches WHERE session = ? ORDER BY number DESC LIMIT 1", [name])
        let counts = try SessionCounts.read(name, in: db)
        return SessionStatus(
            session: session, counts: counts.jobs.byState, bytesReceived: counts.progress.bytesReceived,
            bytesExpected: counts.progress.expected, batch: batch?["number"] ?? 0,
            finishDueAt: batch?.optionalTime("due_at"),
            lastEvent: try lastEvent(of: name, acknowledged: row["acknowledged_through"], in: db),
            acknowledgedThrough: row["acknowledged_through"],
            unacknowledgedSince: try db.value(
                Self.oldestAwaited, [name], as: Int64.self
            ).map(Date.init(milliseconds:)))
    }

    static let oldestAwaited =
        "SELECT min(finished_at) FROM batches WHERE session = ? AND state = 'finished' AND is_awaited = 1"

    /// The last event of the session, also if it was pruned. A session that was declared again starts after the events
    /// of its predecessor.
    private static func lastEvent(of session: String, acknowledged: EventID, in db: SQLConnection) throws -> EventID {
        try db.value(
            """
            SELECT coalesce((SELECT max(id) FROM events WHERE session = ?1),
                (SELECT last_event FROM removed_events WHERE session = ?1), ?2)
            """, [session, acknowledged], as: EventID.self) ?? acknowledged
    }
}
