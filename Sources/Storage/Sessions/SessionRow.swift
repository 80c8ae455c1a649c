import Downloads
import Formats
import Foundation
import GRDB

enum SessionRow {
    static func session(_ row: Row) throws -> Session {
        Session(
            id: Name(trusted: row["id"]),
            configuration: try row.decoded("configuration", as: SessionConfiguration.self),
            isFinishing: row["is_finishing"], createdAt: row.time("created_at"))
    }

    static func status(_ row: Row, in db: Database) throws -> SessionStatus {
        let session = try session(row)
        let name = session.id.text
        let batch = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT * FROM batches WHERE session = ? ORDER BY number DESC LIMIT 1"),
            arguments: [name])
        let number: Int = batch?["number"] ?? 0
        let sizes = try progress(of: name, batch: number, in: db)
        return SessionStatus(
            session: session, counts: try counts(of: name, in: db), bytesReceived: sizes.received,
            bytesExpected: sizes.expected, batch: number, finishDueAt: batch?.optionalTime("due_at"),
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

    private static func counts(of session: String, in db: Database) throws -> [JobState.Name: Int] {
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT state, count(*) AS n FROM jobs WHERE session = ? GROUP BY state"),
            arguments: [session])
        return try Dictionary(
            uniqueKeysWithValues: rows.map { (try $0.named("state", as: JobState.Name.self), $0["n"]) })
    }

    /// The received and expected bytes of the latest batch, without failed and cancelled jobs. The expected bytes are
    /// nil until every size is known.
    ///
    /// Clients poll this value. The query counts jobs in an index only, and reads the few rows of parts.
    private static func progress(of session: String, batch: Int, in db: Database) throws -> (
        received: Int64, expected: Int64?
    ) {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    WITH owed AS (
                        SELECT count(*) AS jobs FROM jobs
                        WHERE session = :session AND batch = :batch
                            AND state IN ('queued', 'running', 'waiting', 'paused')
                    ), had AS (
                        SELECT coalesce(sum(file_size), 0) AS bytes, count(*) AS jobs FROM jobs
                        WHERE session = :session AND batch = :batch AND state = 'succeeded'
                    ), coming AS (
                        SELECT coalesce(sum(bytes_durable), 0) AS bytes, coalesce(sum(size), 0) AS size,
                            count(size) AS jobs
                        FROM parts CROSS JOIN jobs ON jobs.id = parts.job
                        WHERE session = :session AND batch = :batch
                            AND state IN ('queued', 'running', 'waiting', 'paused')
                    )
                    SELECT had.bytes + coming.bytes AS received, had.bytes + coming.size AS expected,
                        owed.jobs = coming.jobs AND owed.jobs + had.jobs > 0 AS is_known
                    FROM owed, had, coming
                    """), arguments: ["session": session, "batch": batch])
        guard let row else { return (0, nil) }
        return (row["received"], row["is_known"] ? row["expected"] : nil)
    }
}
