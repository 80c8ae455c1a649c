import Downloads
import Foundation
import GRDB

/// Reading the journal.
public struct EventQuery: Sendable {
    /// nil: from the first there is.
    public var after: EventID?
    public var session: Name?
    public var job: JobID?
    public var type: EventPattern?
    public var limit: Int

    public init(
        after: EventID? = nil, session: Name? = nil, job: JobID? = nil, type: EventPattern? = nil, limit: Int = 100
    ) {
        self.after = after
        self.session = session
        self.job = job
        self.type = type
        self.limit = limit
    }
}

extension EventQuery {
    /// Whether an event is one of those asked for, wherever it stands.
    public func matches(_ event: Event) -> Bool {
        (session == nil || session == event.session) && (job == nil || job == event.job)
            && type?.matches(event.type) ?? true
    }
}

public struct EventPage: Sendable {
    public var events: [Event]
    /// What to pass as `after` to read on: nothing that matches is missed.
    public var nextAfter: EventID

    public init(events: [Event], nextAfter: EventID) {
        self.events = events
        self.nextAfter = nextAfter
    }
}

extension Store {
    /// - Throws: `eventsPruned` when some behind `after` are no longer there; `noSuchEvent` for an `after` that no event
    ///   has yet: its reader would miss those that are to come.
    public func events(_ query: EventQuery) throws(StoreError) -> EventPage {
        let (sql, arguments) = query.statement
        let after = query.after ?? 0
        return try read { db in
            // In one snapshot: what is behind `last` and does not match can be skipped for good.
            try Self.requireUnpruned(query, in: db)
            let last = try Self.lastEvent(in: db)
            guard after <= last else { throw StoreError.noSuchEvent(after, last: last) }
            let events = try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments).map(EventRow.event)
            let isWhole = events.count < query.limit
            return EventPage(
                events: events, nextAfter: isWhole ? last : events.last?.id ?? after)
        }
    }

    /// The number of the last event there ever was; 0 before the first.
    public func lastEvent() throws(StoreError) -> EventID { try read { db in try Self.lastEvent(in: db) } }

    /// The number of the last event there ever was, also when the journal has forgotten it; 0 before the first.
    static func lastEvent(in db: Database) throws -> EventID {
        try EventID.fetchOne(db.cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'events'")) ?? 0
    }
}

extension EventQuery {
    fileprivate var statement: (String, StatementArguments) {
        var conditions = ["id > ?"]
        var arguments: StatementArguments = [after ?? 0]
        func demand(_ condition: String, _ value: String) {
            conditions.append(condition)
            arguments += [value]
        }
        if let session { demand("session = ?", session.text) }
        if let job { demand("job = ?", job.text) }
        // `_` and `%` occur in no event type; the star stands for the rest of the name.
        if let type { demand("type LIKE ?", type.text.replacing("*", with: "%")) }
        arguments += [limit]
        return ("SELECT * FROM events WHERE \(conditions.joined(separator: " AND ")) ORDER BY id LIMIT ?", arguments)
    }
}

enum EventRow {
    static func event(_ row: Row) throws -> Event {
        Event(
            id: row["id"], type: try row.named("type", as: EventType.self), time: row.time("time"),
            session: Name(trusted: row["session"]), job: (row["job"] as String?).map { JobID($0) },
            data: row["data"])
    }
}
