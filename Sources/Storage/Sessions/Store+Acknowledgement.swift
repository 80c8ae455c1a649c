import Downloads
import Formats
import Foundation
import GRDB

/// A session whose oldest finish nobody has acknowledged.
public struct Unacknowledged: Sendable, Equatable {
    public var session: Name
    public var batch: Int
    /// The number of its `session.finished`.
    public var event: EventID
    public var since: Date
    /// Moved by the jumps of the clock since then: its age is counted from here.
    public var agingSince: Date
}

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
    public func unacknowledged() throws(StoreError) -> [Unacknowledged] {
        try read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT session, number, finish_event, min(finished_at) AS since,
                            (SELECT coalesce(sum(by), 0) FROM clock_jumps WHERE last_event >= finish_event) AS jumps
                        FROM batches WHERE state = 'finished' GROUP BY session ORDER BY since
                        """)
            ).map { row in
                Unacknowledged(
                    session: Name(trusted: row["session"]), batch: row["number"], event: row["finish_event"],
                    since: row.time("since"),
                    agingSince: Date(milliseconds: (row["since"] as Int64) + (row["jumps"] as Int64)))
            }
        }
    }
}

extension Transaction {
    fileprivate func acknowledgeFinishes(of session: Name, through event: EventID) throws {
        let batches = try rows(
            BatchRow.select + "WHERE session = ? AND state = 'finished' AND finish_event <= ?", [session.text, event])
        for row in batches {
            if let batch = try BatchRow.batch(row).after(.finishAcknowledged) { try update(batch) }
        }
    }
}
