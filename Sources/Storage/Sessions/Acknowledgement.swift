import Downloads
import Formats
import Foundation

/// A finish whose acknowledgement is awaited.
public struct UnacknowledgedFinish: Sendable, Equatable {
    public var session: Name
    public var batch: Int
    /// The identifier of `session.finished`.
    public var event: EventID
    public var since: Date
    /// The start of its age: `since`, moved by the later jumps of the clock.
    public var agingSince: Date
}

extension Store {
    /// Records that the consumer has processed all events of the session up to this one, finishes included. Pending
    /// deliveries stay pending.
    ///
    /// - Throws: `noSuchSession`; `noSuchEvent` for an identifier above the last event.
    public func acknowledge(_ session: Name, through event: EventID) async throws {
        try await writer.write { transaction in
            let before = try transaction.session(session)
            let last = try transaction.lastEvent()
            guard event <= last else { throw StoreError.noSuchEvent(event, last: last) }
            try transaction.run(
                "UPDATE sessions SET acknowledged_through = max(acknowledged_through, ?) WHERE id = ?",
                [event, session.text])
            let batches = try transaction.rows(
                BatchRow.select + "WHERE session = ? AND state = 'finished' AND finish_event <= ?",
                [session.text, event])
            for batch in batches { try transaction.acknowledge(batch) }
            try transaction.noteConsumer(of: session)
            // The new consumer has not come to the later finishes yet.
            if try transaction.session(session).expectsAcknowledgement, !before.expectsAcknowledgement {
                try transaction.awaitFinishes(of: session)
            }
        }
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

    /// Marks finishes as reported, and returns those that are still unacknowledged and were not marked before.
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
    fileprivate init(_ row: SQLRow) throws {
        try self.init(
            session: Name(trusted: row["session"]), batch: row["number"], event: row["finish_event"],
            since: row.time("since"),
            agingSince: Date(milliseconds: (row["since"] as Int64) + (row["jumps"] as Int64)))
    }
}

extension Transaction {
    func acknowledge(_ row: SQLRow) throws {
        guard let batch = try BatchRow.batch(row).transition(on: .finishAcknowledged) else { return }
        try update(batch)
        if try row["is_awaited"] { countFinishes(-1) }
    }

    /// Notes that something can acknowledge the finishes of the session from now on.
    func noteConsumer(of session: Name) throws {
        var session = try self.session(session)
        guard !session.hasConsumer else { return }
        session.hasConsumer = true
        try run(
            "UPDATE sessions SET has_consumer = 1, expects_acknowledgement = ? WHERE id = ?",
            [session.expectsAcknowledgement, session.id.text])
        working.sessions.forget(session.id)
    }

    /// The configuration of the session has changed: all of its unacknowledged finishes are awaited, or none.
    func noteExpectation(of session: Name, before: Session) throws {
        let isExpected = try self.session(session).expectsAcknowledgement
        guard isExpected != before.expectsAcknowledgement else { return }
        try run("UPDATE sessions SET expects_acknowledgement = ? WHERE id = ?", [isExpected, session.text])
        if isExpected { return try awaitFinishes(of: session) }
        countFinishes(
            -(try changedRows(
                "UPDATE batches SET is_awaited = 0 WHERE session = ? AND state = 'finished' AND is_awaited = 1",
                [session.text])))
    }

    fileprivate func awaitFinishes(of session: Name) throws {
        countFinishes(
            try changedRows(
                "UPDATE batches SET is_awaited = 1 WHERE session = ? AND state = 'finished' AND is_awaited = 0",
                [session.text]))
    }

    /// - Returns: false if the finish is acknowledged meanwhile, or was reported before.
    func report(_ finish: UnacknowledgedFinish) throws -> Bool {
        try changedRows(
            """
            UPDATE batches SET is_reported = 1
            WHERE session = ? AND number = ? AND state = 'finished' AND is_awaited = 1 AND is_reported = 0
            """, [finish.session.text, finish.batch]) > 0
    }
}
