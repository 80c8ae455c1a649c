import Downloads
import Formats
import Foundation

public struct EventQuery: Sendable, Hashable {
    /// The last event before the page; nil: the page begins with the first event in the journal.
    public var after: EventID?
    public var session: Name?
    public var visible = VisibleSessions.all
    public var job: JobID?
    /// Empty: events of every type.
    public var types: [EventPattern]
    public var limit: Int

    public init(
        after: EventID? = nil, session: Name? = nil, job: JobID? = nil, types: [EventPattern] = [],
        limit: Int = 100
    ) {
        self.after = after
        self.session = session
        self.job = job
        self.types = types
        self.limit = limit
    }
}

extension EventQuery {
    public func matches(_ event: Event) -> Bool {
        (session == nil || session == event.session) && visible.contain(event.session)
            && (job == nil || job == event.job) && (types.isEmpty || types.contains { $0.matches(event.type) })
    }
}

public struct EventPage: Sendable {
    public var events: [Event]
    /// The `after` of the next page. No matching event is skipped.
    public var nextAfter: EventID

    public init(events: [Event], nextAfter: EventID) {
        self.events = events
        self.nextAfter = nextAfter
    }
}

extension Store {
    /// The numbers of the events continue at least this far above those of lost events (`JournalGaps`).
    public static let gapAfterLostEvents: EventID = 10_000

    /// - Throws: `eventsPruned` when events after `after` were pruned; `noSuchEvent` when `after` is above the last
    ///   event: a reader with this cursor would miss later events; `eventsLost` when the event `after` is lost.
    public func events(_ query: EventQuery) async throws(StoreError) -> EventPage {
        try await read { db in try Self.events(query, in: db) }
    }

    /// - Parameter consumer: whose acknowledged events are left out.
    static func events(_ query: EventQuery, in db: SQLConnection, except consumer: Consumer? = nil) throws -> EventPage
    {
        let after = query.after ?? 0
        // One snapshot: a later page can skip all events up to `last` that do not match.
        try requireUnpruned(query, in: db)
        let last = try db.isPostgres ? lastEvent(for: after, in: db) : lastEvent(in: db)
        guard after <= last else { throw StoreError.noSuchEvent(after, last: last) }
        let (sql, arguments) = query.statement(except: consumer)
        let events = try db.rows(sql, arguments).map(EventRow.event)
        let isWhole = events.count < query.limit
        return EventPage(events: events, nextAfter: isWhole ? last : events.last?.id ?? after)
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
        if let next: EventID = try journal?["next_event"] {
            throw StoreError.eventsLost(after: cursor, firstAvailable: next)
        }
        return try journal?["last"] ?? 0
    }

    public func lastEvent() async throws(StoreError) -> EventID { try await read { db in try Self.lastEvent(in: db) } }

    /// The identifier of the last event that was ever appended, also if it was pruned; 0 before the first.
    package static func lastEvent(in db: SQLConnection) throws -> EventID {
        let last = db.isPostgres ? "SELECT last FROM journal" : "SELECT seq FROM sqlite_sequence WHERE name = 'events'"
        return try db.value(last, as: EventID.self) ?? 0
    }
}

extension EventQuery {
    func statement(except consumer: Consumer? = nil) -> (String, SQLArguments) {
        let conditions = consumer?.unacknowledged(in: self) ?? conditions
        return ("SELECT * FROM events WHERE \(conditions.sql) ORDER BY id LIMIT ?", conditions.arguments + [limit])
    }

    var conditions: SQLConditions {
        var conditions = SQLConditions("id > ?", after ?? 0)
        if let session { conditions.add("session = ?", session.text) }
        conditions.add(visible, on: "session")
        if let job { conditions.add("job = ?", job.text) }
        // Event types contain no `_` and no `%`. The star matches the rest of the name.
        conditions.addAny("type LIKE ?", of: types.map { $0.text.replacing("*", with: "%") })
        return conditions
    }
}

enum EventRow {
    static func event(_ row: SQLRow) throws -> Event {
        try Event(
            id: row["id"], type: try row.named("type", as: EventType.self), time: row.time("time"),
            session: Name(trusted: row["session"]), job: (row["job"] as String?).map { JobID($0) },
            data: row["data"])
    }
}

struct NewEvent {
    let type: EventType
    let session: Name
    let job: JobID?
    /// A JSON object.
    let data: String

    init(_ type: EventType, in session: Name, data: JSONObject) {
        self.type = type
        self.session = session
        job = nil
        self.data = JSON.object(data).written
    }

    init(_ type: EventType, of job: Job) {
        self.type = type
        session = job.session
        self.job = job.id
        data = job.announcement(type)
    }
}

/// Appends events to the journal, in the transaction of the change that they report and together with their deliveries.
extension Transaction {
    /// Appends events in their order, with a delivery for each webhook that wants one.
    @discardableResult
    func append(_ events: [NewEvent]) throws -> [EventID] {
        var ids: [EventID] = []
        var receivers: [Name: [EventType: [WebhookReceiver]]] = [:]
        let time = Date(milliseconds: now.milliseconds)
        for chunk in RowInsertion.chunks(events) {
            for (id, event) in zip(try insert(chunk), chunk) {
                ids.append(id)
                note(
                    Event(
                        id: id, type: event.type, time: time, session: event.session, job: event.job, data: event.data))
                let known = receivers[event.session]?[event.type]
                let webhooks = try known ?? self.receivers(of: event.type, in: event.session)
                receivers[event.session, default: [:]][event.type] = webhooks
                for webhook in webhooks { try deliver(id, event.type, in: event.session, to: webhook) }
            }
        }
        return ids
    }

    private func insert(_ events: ArraySlice<NewEvent>) throws -> ClosedRange<EventID> {
        let ids = try numbers.take(events.count, in: db)
        var values: [SQLArguments.Value] = []
        values.reserveCapacity(events.count * 6)
        for (id, event) in zip(ids, events) {
            values.append(id)
            values.append(event.type.rawValue)
            values.append(now.milliseconds)
            values.append(event.session.text)
            values.append(event.job?.text)
            values.append(event.data)
        }
        try Self.insertion.run(values, rows: events.count, in: self)
        return ids
    }

    private static let insertion = RowInsertion("events (id, type, time, session, job, data)", columns: 6)

    /// The identifier of the last event that was ever appended; 0 before the first.
    func lastEvent() throws -> EventID { try numbers.last(in: db) }

    typealias WebhookReceiver = (key: Int64, name: String)

    /// The enabled webhooks of the session that want events of this type. A test event goes to the tested webhook only.
    private func receivers(of type: EventType, in session: Name) throws -> [WebhookReceiver] {
        guard type != .webhookTest else { return [] }
        return try subscriptions(of: session).filter { $0.includes(type) }.map { (key: $0.key, name: $0.name) }
    }

    private func subscriptions(of session: Name) throws -> [WebhookSubscription] {
        if let known = working.subscriptions[session] { return known }
        let webhooks = try rows(
            "SELECT key, name, events FROM webhooks WHERE session = ? AND state = 'enabled'", [session.text]
        ).map { try WebhookSubscription(key: $0["key"], name: $0["name"], patterns: WebhookRow.patterns($0["events"])) }
        working.subscriptions.note(webhooks, for: session)
        return webhooks
    }

    @discardableResult
    func deliver(
        _ event: EventID, _ type: EventType, in session: Name, to webhook: WebhookReceiver
    ) throws -> DeliveryID {
        let id = DeliveryID.make(nextULID())
        try run(
            """
            INSERT INTO deliveries (id, webhook, name, session, event, type, state, next_attempt_at)
            VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)
            """,
            [id.text, webhook.key, webhook.name, session.text, event, type.rawValue, now.milliseconds])
        countDeliveries(from: nil, to: .pending)
        try leaseWebhook(webhook.key)
        wake(.deliveries)
        return id
    }
}

/// The numbers of the events that a group commit appends: consecutive, in the order of the appends.
///
/// A group begins after the last event that was ever appended. The numbers of a refused write are used again.
package final class EventNumbers {
    /// nil: not read yet. Few groups append no event.
    package private(set) var last: EventID?

    package init(after last: EventID? = nil) { self.last = last }

    func last(in db: SQLConnection) throws -> EventID {
        if let last { return last }
        let stored = try Store.lastEvent(in: db)
        last = stored
        return stored
    }

    /// - Parameter count: at least 1.
    func take(_ count: Int, in db: SQLConnection) throws -> ClosedRange<EventID> {
        let before = try last(in: db)
        last = before + EventID(count)
        return before + 1...before + EventID(count)
    }

    func goBack(to earlier: EventID?) { last = earlier }
}
