import Downloads
import Formats
import Foundation

/// Acknowledgements of finished batches.
extension Store {
    /// Records that the consumer has processed all events of the session up to this one, finishes included. Pending
    /// deliveries stay pending.
    ///
    /// - Throws: `noSuchSession`; `noSuchEvent` for an identifier above the last event.
    public func acknowledge(_ session: Name, through event: EventID) async throws {
        try await writer.write { try $0.acknowledge(session, through: event) }
    }

    /// The oldest unacknowledged finish of each session that has one, oldest first.
    public func unacknowledgedFinishes() async throws(StoreError) -> [UnacknowledgedFinish] {
        try await read { db in
            try db.rows(Self.oldestFinishes).map { row in
                UnacknowledgedFinish(
                    session: Name(trusted: row["session"]), batch: row["number"], event: row["finish_event"],
                    since: row.time("since"),
                    agingSince: Date(milliseconds: (row["since"] as Int64) + (row["jumps"] as Int64)))
            }.sorted { $0.since < $1.since }
        }
    }

    /// Takes one step in an index for each session, for any number of finishes.
    static let oldestFinishes = """
        SELECT batches.session, batches.number, batches.finish_event, batches.finished_at AS since,
            (SELECT coalesce(sum(by), 0) FROM clock_jumps WHERE last_event >= batches.finish_event) AS jumps
        FROM sessions CROSS JOIN batches ON batches.session = sessions.id AND batches.number = (
            SELECT number FROM batches WHERE session = sessions.id AND state = 'finished' ORDER BY finished_at LIMIT 1)
        """
}
