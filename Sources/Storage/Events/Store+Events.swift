import Downloads
import Foundation

extension Store {
    /// The numbers of the events continue at least this far above those of lost events (`JournalGaps`).
    public static let gapAfterLostEvents: EventID = 10_000

    /// - Throws: `eventsPruned` when events after `after` were pruned; `noSuchEvent` when `after` is above the last
    ///   event: a reader with this cursor would miss later events; `eventsLost` when the event `after` is lost.
    public func events(_ query: EventQuery) async throws(StoreError) -> EventPage {
        let after = query.after ?? 0
        return try await read { db in
            // One snapshot: a later page can skip all events up to `last` that do not match.
            try Self.requireUnpruned(query, in: db)
            let last = try db.isPostgres ? Self.lastEvent(for: after, in: db) : Self.lastEvent(in: db)
            let (sql, arguments) = query.statement
            guard after <= last else { throw StoreError.noSuchEvent(after, last: last) }
            let events = try db.rows(sql, arguments).map(EventRow.event)
            let isWhole = events.count < query.limit
            return EventPage(
                events: events, nextAfter: isWhole ? last : events.last?.id ?? after)
        }
    }

    /// As `lastEvent(in:)`, on PostgreSQL.
    ///
    /// The last number of a gap is no cursor of a lost event, because a client receives it as that of an empty page.
    ///
    /// - Throws: `eventsLost` if the cursor is in a gap.
    private static func lastEvent(for cursor: EventID, in db: SQLConnection) throws -> EventID {
        let journal = try db.row(
            """
            SELECT last, (
                SELECT min(next_event) FROM journal_gaps WHERE last_event < ?1 AND next_event - 1 > ?1
            ) AS next_event FROM journal WHERE id = 1
            """, [cursor])
        if let next: EventID = journal?["next_event"] {
            throw StoreError.eventsLost(after: cursor, firstAvailable: next)
        }
        return journal?["last"] ?? 0
    }

    /// The identifier of the last event that was ever appended; 0 before the first.
    public func lastEvent() async throws(StoreError) -> EventID { try await read { db in try Self.lastEvent(in: db) } }

    /// The identifier of the last event that was ever appended, also if it was pruned; 0 before the first.
    static func lastEvent(in db: SQLConnection) throws -> EventID {
        let last = db.isPostgres ? "SELECT last FROM journal" : "SELECT seq FROM sqlite_sequence WHERE name = 'events'"
        return try db.value(last, as: EventID.self) ?? 0
    }
}

extension EventQuery {
    var statement: (String, SQLArguments) {
        var conditions = ["id > ?"]
        var arguments: SQLArguments = [after ?? 0]
        func addCondition(_ condition: String, _ value: String) {
            conditions.append(condition)
            arguments += [value]
        }
        if let session { addCondition("session = ?", session.text) }
        if let (condition, names) = visible.condition(on: "session") {
            conditions.append(condition)
            arguments += SQLArguments(names)
        }
        if let job { addCondition("job = ?", job.text) }
        // Event types contain no `_` and no `%`. The star matches the rest of the name.
        if let type { addCondition("type LIKE ?", type.text.replacing("*", with: "%")) }
        arguments += [limit]
        return ("SELECT * FROM events WHERE \(conditions.joined(separator: " AND ")) ORDER BY id LIMIT ?", arguments)
    }
}
