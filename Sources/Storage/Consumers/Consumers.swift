import Downloads
import Formats
import Foundation

/// A reader of the journal with a name and a position that the service keeps, so that it continues after any interruption.
public struct Consumer: Sendable, Equatable {
    public var name: Name
    /// nil: all that `visible` contains.
    public var session: Name?
    /// What the token that declared the consumer may see.
    public var visible: VisibleSessions
    public var events: [EventPattern]
    /// Each event of the consumer up to this one is acknowledged.
    public var acknowledgedThrough: EventID
    /// Events that were acknowledged without success.
    public var givenUp: Int
    public var lastGivenUp: EventID?
    public var acknowledgedAt: Date?
    public var createdAt: Date

    /// The events after the position, before those that were acknowledged out of order are left out.
    public var query: EventQuery {
        var query = EventQuery(after: acknowledgedThrough, session: session, types: events)
        query.visible = visible
        return query
    }

    func isVisible(to caller: VisibleSessions) -> Bool {
        session.map(caller.contain) ?? (caller == .all || caller == visible)
    }

    /// The number that a service has at most.
    public static let limit = 100
}

/// The unacknowledged events of a consumer.
public struct ConsumerLag: Sendable, Equatable {
    /// At most `limit`: counting more costs too much.
    public var events: Int
    public var oldestAt: Date?

    public static let limit = 10_000
}

/// What a consumer has done.
public struct ConsumerProgress: Sendable {
    /// All events up to this one.
    public var through: EventID?
    public var events: Set<EventID>
    /// Events that it gives up. They are acknowledged, and counted.
    public var givenUp: Set<EventID>

    public init(through: EventID? = nil, events: Set<EventID> = [], givenUp: Set<EventID> = []) {
        self.through = through
        self.events = events
        self.givenUp = givenUp
    }
}

extension Schema {
    /// - `events`: patterns, separated by spaces.
    /// - `sessions`: what the declaring token could see, as in `tokens`; NULL: everything.
    static let consumers = Table(
        name: "consumers",
        columns: [
            .text("name", "NOT NULL PRIMARY KEY"), .text("session"), .text("sessions"), .text("events", "NOT NULL"),
            .count("acknowledged_through"), .count("given_up", "DEFAULT 0"), .integer("last_given_up"),
            .integer("acknowledged_at"), .integer("created_at", "NOT NULL"),
        ],
        since: 25)

    /// The events after the position of their consumer that are acknowledged.
    static let consumerAcknowledgements = Table(
        name: "consumer_acknowledgements",
        columns: [
            .text("consumer", "NOT NULL REFERENCES consumers (name) ON DELETE CASCADE"), .integer("event", "NOT NULL"),
        ],
        key: ["consumer", "event"], since: 25, isOrderedByKey: true)
}

/// Each of these throws `noSuchConsumer` also for a consumer that `visible` does not contain.
extension Store {
    /// Declares a consumer, or changes what an existing one reads. Its position stays.
    ///
    /// - Parameters:
    ///   - from: the last event that a new consumer does not get; nil: the last event of the journal.
    ///   - visible: what the caller may see.
    /// - Throws: `noSuchSession`, `noSuchEvent`, `tooManyConsumers`; `consumerOfOthers` if the caller may not see the consumer
    ///   with this name.
    public func declareConsumer(
        _ name: Name, session: Name?, events: [EventPattern], from: EventID?, visible: VisibleSessions,
        audit note: AuditNote? = nil
    ) async throws -> (consumer: Consumer, isNew: Bool) {
        try await writer.write { transaction in
            let existing = try transaction.consumer(name)
            if let existing, !existing.isVisible(to: visible) { throw StoreError.consumerOfOthers(name) }
            // The events of a deleted session can still be read.
            if let session, existing?.session != session { _ = try transaction.session(session) }
            try transaction.declare(
                name, session, events, from: from, existing?.visible ?? visible, isNew: existing == nil)
            if let session, events.contains(where: { $0.matches(.sessionFinished) }),
                try transaction.hasSession(session)
            {
                try transaction.noteConsumer(of: session)
            }
            try transaction.audit(note)
            return (try transaction.existingConsumer(name, visible), existing == nil)
        }
    }

    /// The consumers that `visible` contains, by name.
    public func consumers(visible: VisibleSessions) async throws(StoreError) -> [(consumer: Consumer, lag: ConsumerLag)]
    {
        try await read { db in
            try db.rows("SELECT * FROM consumers ORDER BY name").compactMap { row in
                let consumer = try Consumer(row)
                return consumer.isVisible(to: visible) ? (consumer, try consumer.lag(in: db)) : nil
            }
        }
    }

    public func lag(of consumer: Consumer) async throws(StoreError) -> ConsumerLag {
        try await read { db in try consumer.lag(in: db) }
    }

    public func deleteConsumer(_ name: Name, visible: VisibleSessions, audit note: AuditNote? = nil) async throws {
        try await writer.write { transaction in
            _ = try transaction.existingConsumer(name, visible)
            try transaction.run("DELETE FROM consumers WHERE name = ?", [name.text])
            try transaction.audit(note)
        }
    }

    /// The unacknowledged events of a consumer, in their order.
    ///
    /// - Parameter after: the last event that the caller has; nil: the position of the consumer.
    /// - Returns: also the query for later events.
    /// - Throws: `eventsPruned`; `eventsLost`, `noSuchEvent` after a loss of data.
    public func events(
        of name: Name, after: EventID?, limit: Int, visible: VisibleSessions
    ) async throws(StoreError) -> (page: EventPage, query: EventQuery) {
        let found: (EventPage, EventQuery)? = try await read { db in
            guard let consumer = try db.row("SELECT * FROM consumers WHERE name = ?", [name.text]).map(Consumer.init),
                consumer.isVisible(to: visible)
            else { return nil }
            var query = consumer.query
            query.limit = limit
            query.after = max(after ?? 0, consumer.acknowledgedThrough)
            return (try Self.events(query, in: db, except: consumer), query)
        }
        guard let found else { throw .noSuchConsumer(name) }
        return found
    }

    /// Records what a consumer has done. A repetition changes nothing.
    ///
    /// - Throws: `noSuchEvent` for an event after the last one.
    public func acknowledge(
        _ progress: ConsumerProgress, by name: Name, visible: VisibleSessions
    ) async throws -> Consumer {
        try await writer.write { transaction in
            let consumer = try transaction.existingConsumer(name, visible)
            try transaction.note(progress, by: consumer)
            return try transaction.existingConsumer(name, visible)
        }
    }
}

extension Transaction {
    fileprivate func consumer(_ name: Name) throws -> Consumer? {
        try row("SELECT * FROM consumers WHERE name = ?", [name.text]).map(Consumer.init)
    }

    fileprivate func existingConsumer(_ name: Name, _ visible: VisibleSessions) throws -> Consumer {
        guard let consumer = try consumer(name), consumer.isVisible(to: visible) else {
            throw StoreError.noSuchConsumer(name)
        }
        return consumer
    }

    fileprivate func hasSession(_ session: Name) throws -> Bool {
        try row("SELECT 1 FROM sessions WHERE id = ?", [session.text]) != nil
    }

    fileprivate func declare(
        _ name: Name, _ session: Name?, _ events: [EventPattern], from: EventID?, _ visible: VisibleSessions,
        isNew: Bool
    ) throws {
        let last = try lastEvent()
        let from = from ?? last
        guard from <= last else { throw StoreError.noSuchEvent(from, last: last) }
        let count = try row("SELECT count(*) AS count FROM consumers")?["count"] ?? 0
        guard !isNew || count < Consumer.limit else { throw StoreError.tooManyConsumers(limit: Consumer.limit) }
        try run(
            """
            INSERT INTO consumers (name, session, sessions, events, acknowledged_through, created_at)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET session = excluded.session, events = excluded.events
            """,
            [
                name.text, session?.text, try TokenRow.text(visible), WebhookRow.text(events), from, now.milliseconds,
            ])
    }

    fileprivate func note(_ progress: ConsumerProgress, by consumer: Consumer) throws {
        let last = try lastEvent()
        let newest = progress.events.union(progress.givenUp).union(progress.through.map { [$0] } ?? []).max() ?? 0
        guard newest <= last else { throw StoreError.noSuchEvent(newest, last: last) }
        let end = max(progress.through ?? 0, consumer.acknowledgedThrough)
        for event in try finishes(of: consumer, upTo: end) { try acknowledgeFinish(event) }
        let events = progress.events.union(progress.givenUp).filter { $0 > end }.sorted()
        var givenUp: [EventID] = []
        for event in events {
            let isNew = try changedRows(
                """
                INSERT INTO consumer_acknowledgements (consumer, event) VALUES (?, ?)
                ON CONFLICT (consumer, event) DO NOTHING
                """, [consumer.name.text, event])
            if isNew > 0, progress.givenUp.contains(event) {
                givenUp.append(event)
            } else if isNew > 0 {
                try acknowledgeFinish(event)
            }
        }
        try run(
            """
            UPDATE consumers SET acknowledged_at = ?, given_up = given_up + ?,
                last_given_up = coalesce(?, last_given_up) WHERE name = ?
            """, [now.milliseconds, givenUp.count, givenUp.max(), consumer.name.text])
        try advance(consumer, from: end, last: last)
    }

    /// The finishes that an acknowledgement of all events acknowledges.
    private func finishes(of consumer: Consumer, upTo end: EventID) throws -> [EventID] {
        guard end > consumer.acknowledgedThrough, consumer.events.contains(where: { $0.matches(.sessionFinished) })
        else { return [] }
        var query = consumer.query
        query.types = [EventPattern(trusted: EventType.sessionFinished.rawValue)]
        var conditions = query.conditions
        conditions.add("id <= ?", end)
        return try rows("SELECT id FROM events WHERE \(conditions.sql)", conditions.arguments).map { try $0["id"] }
    }

    /// Moves the position to the last event before the first one that is not acknowledged.
    private func advance(_ consumer: Consumer, from end: EventID, last: EventID) throws {
        var consumer = consumer
        consumer.acknowledgedThrough = end
        let first = try consumer.unacknowledged(in: consumer.query).first(of: "id", in: db)
        let position = max(end, first.map { $0 - 1 } ?? last)
        try run("UPDATE consumers SET acknowledged_through = ? WHERE name = ?", [position, consumer.name.text])
        try run(
            "DELETE FROM consumer_acknowledgements WHERE consumer = ? AND event <= ?", [consumer.name.text, position])
    }
}

extension Consumer {
    fileprivate init(_ row: SQLRow) throws {
        try self.init(
            name: Name(trusted: row["name"]), session: (row["session"] as String?).map { Name(trusted: $0) },
            visible: TokenRow.sessions(row), events: WebhookRow.patterns(row["events"]),
            acknowledgedThrough: row["acknowledged_through"], givenUp: row["given_up"],
            lastGivenUp: row["last_given_up"],
            acknowledgedAt: row.optionalTime("acknowledged_at"), createdAt: row.time("created_at"))
    }

    /// The conditions on the events of a query that it has not acknowledged.
    func unacknowledged(in query: EventQuery) -> SQLConditions {
        var conditions = query.conditions
        conditions.add(
            "NOT EXISTS (SELECT 1 FROM consumer_acknowledgements WHERE consumer = ? AND event = events.id)", name.text)
        return conditions
    }

    fileprivate func lag(in db: SQLConnection) throws -> ConsumerLag {
        let conditions = unacknowledged(in: query)
        let count = try db.row(
            "SELECT count(*) AS count FROM (SELECT 1 FROM events WHERE \(conditions.sql) LIMIT ?) AS waiting",
            conditions.arguments + [ConsumerLag.limit])
        return ConsumerLag(
            events: try count?["count"] ?? 0,
            oldestAt: try conditions.first(of: "time", in: db).map(Date.init(milliseconds:)))
    }
}

extension SQLConditions {
    /// A column of the first event that fulfils the conditions.
    fileprivate func first(of column: String, in db: SQLConnection) throws -> Int64? {
        try db.row("SELECT \(column) AS value FROM events WHERE \(sql) ORDER BY id LIMIT 1", arguments)?["value"]
    }
}
