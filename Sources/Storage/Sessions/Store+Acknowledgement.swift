import Downloads
import Formats
import Foundation
import GRDB

/// The consumer's word: "I have taken it from here."
extension Store {
    /// Everything of the session up to this event is taken, finishes included. Deliveries are not touched.
    ///
    /// - Throws: `noSuchSession`; `noSuchEvent` for a number that no event has yet.
    public func acknowledge(_ session: Name, through event: EventID) async throws {
        try await writer.write { transaction in
            _ = try transaction.session(session)
            let last = try transaction.lastEvent()
            guard event <= last else { throw StoreError.noSuchEvent(event, last: last) }
            try transaction.run(
                "UPDATE sessions SET acknowledged_through = max(acknowledged_through, ?) WHERE id = ?",
                [event, session.text])
            try transaction.acknowledgeFinishes(of: session, through: event)
        }
    }

    /// The oldest unacknowledged finish of each session that has one, oldest first.
    public func unacknowledgedFinishes() throws(StoreError) -> [UnacknowledgedFinish] {
        try read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT session, number, finish_event, min(finished_at) AS since,
                            (SELECT coalesce(sum(by), 0) FROM clock_jumps WHERE last_event >= finish_event) AS jumps
                        FROM batches WHERE state = 'finished' GROUP BY session ORDER BY since
                        """)
            ).map { row in
                UnacknowledgedFinish(
                    session: Name(trusted: row["session"]), batch: row["number"], event: row["finish_event"],
                    since: row.time("since"),
                    agingSince: Date(milliseconds: (row["since"] as Int64) + (row["jumps"] as Int64)))
            }
        }
    }
}
