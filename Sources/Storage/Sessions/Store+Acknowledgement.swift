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
            try db.rows(Self.oldestFinishes).map(UnacknowledgedFinish.init).sorted { $0.since < $1.since }
        }
    }

    /// The oldest unacknowledged finishes that were not reported yet, in the order of their events.
    public func unreportedFinishes(limit: Int = 100) async throws(StoreError) -> [UnacknowledgedFinish] {
        try await read { db in try db.rows(Self.unreportedFinishes, [limit]).map(UnacknowledgedFinish.init) }
    }

    /// Marks finishes as reported.
    ///
    /// - Returns: those that are still unacknowledged, and were not marked before.
    public func reportFinishes(_ finishes: [UnacknowledgedFinish]) async throws -> [UnacknowledgedFinish] {
        guard !finishes.isEmpty else { return [] }
        return try await writer.write { transaction in try finishes.filter { try transaction.report($0) } }
    }

    /// Takes one step in an index for each session, for any number of finishes.
    static let oldestFinishes = """
        SELECT batches.session, batches.number, batches.finish_event, batches.finished_at AS since, \(jumps)
        FROM sessions CROSS JOIN batches ON batches.session = sessions.id AND batches.number = (
            SELECT number FROM batches WHERE session = sessions.id AND state = 'finished' AND is_awaited = 1
            ORDER BY finished_at LIMIT 1)
        """

    static let unreportedFinishes = """
        SELECT session, number, finish_event, finished_at AS since, \(jumps) FROM batches
        WHERE state = 'finished' AND is_awaited = 1 AND is_reported = 0 ORDER BY finish_event LIMIT ?
        """

    private static let jumps =
        "(SELECT coalesce(sum(by), 0) FROM clock_jumps WHERE last_event >= batches.finish_event) AS jumps"
}

extension UnacknowledgedFinish {
    fileprivate init(_ row: SQLRow) {
        self.init(
            session: Name(trusted: row["session"]), batch: row["number"], event: row["finish_event"],
            since: row.time("since"),
            agingSince: Date(milliseconds: (row["since"] as Int64) + (row["jumps"] as Int64)))
    }
}
