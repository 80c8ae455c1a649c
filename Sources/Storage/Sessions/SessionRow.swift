import Downloads
import Formats
import Foundation
import GRDB

enum SessionRow {
    static func session(_ row: Row, _ sealer: Sealer) throws -> Session {
        let place = SecretColumn.sessionConfiguration.place(row["id"] as String)
        let configuration = try sealer.open(row["configuration"], at: place).text
        return Session(
            id: Name(trusted: row["id"]),
            configuration: try Stored.value(SessionConfiguration.self, from: configuration),
            isFinishing: row["is_finishing"], createdAt: row.time("created_at"))
    }

    static func status(_ row: Row, in db: Database, _ sealer: Sealer) throws -> SessionStatus {
        let session = try session(row, sealer)
        let name = session.id.text
        let batch = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT * FROM batches WHERE session = ? ORDER BY number DESC LIMIT 1"),
            arguments: [name])
        let counts = try SessionCounts.read(name, in: db)
        return SessionStatus(
            session: session, counts: counts.jobs.byState, bytesReceived: counts.progress.bytesReceived,
            bytesExpected: counts.progress.expected, batch: batch?["number"] ?? 0,
            finishDueAt: batch?.optionalTime("due_at"),
            lastEvent: try lastEvent(of: name, acknowledged: row["acknowledged_through"], in: db),
            acknowledgedThrough: row["acknowledged_through"],
            unacknowledgedSince: try Int64.fetchOne(
                db.cachedStatement(
                    sql: "SELECT min(finished_at) FROM batches WHERE session = ? AND state = 'finished'"),
                arguments: [name]
            ).map(Date.init(milliseconds:)))
    }

    /// The last event of the session, also if it was pruned. A session that was declared again starts after the events
    /// of its predecessor.
    private static func lastEvent(of session: String, acknowledged: EventID, in db: Database) throws -> EventID {
        try EventID.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT coalesce((SELECT max(id) FROM events WHERE session = ?1),
                        (SELECT last_event FROM removed_events WHERE session = ?1), ?2)
                    """), arguments: [session, acknowledged]) ?? acknowledged
    }
}
