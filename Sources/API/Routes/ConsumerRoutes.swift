import Base
import Downloads
import Formats
import HTTPServer
import HTTPTypes
import Storage

/// `/v1/consumers`: readers of the journal whose positions the service keeps.
struct ConsumerRoutes: Sendable {
    let store: Store
    let feed: Feed

    var routes: [Route] {
        [
            Route(.get, "/v1/consumers", .scope(.read, of: .selection), isLarge: true, list),
            Route(.put, Self.path, .scope(.sessions, of: .selection), body: .json, declare),
            Route(.delete, Self.path, .scope(.sessions, of: .selection), delete),
            Route(
                .get, Self.path + "/events", .scope(.jobs, of: .selection), readsQuery: true, isLarge: true,
                mayWait: true, longPoll: longPoll, events),
            Route(.post, Self.path + "/acknowledge", .scope(.jobs, of: .selection), body: .json, acknowledge),
        ]
    }

    private static let path = "/v1/consumers/{consumer}"

    private func list(_ context: RequestContext) async throws -> Response {
        let consumers = try await store.consumers(visible: context.caller.visible)
        return .json(["consumers": .array(consumers.map { $0.consumer.document($0.lag) })])
    }

    private func declare(_ context: RequestContext) async throws -> Response {
        let name = try context.name("consumer")
        let (session, events, from) = try context.body { reader throws(Problem) in
            let session = try reader.string("session", "cannot be a session's name") { Name($0) }
            let events = try reader.eventPatterns("events")
            let from = try reader.integer("from", in: 0...Int64.max)
            guard let events else { throw reader.missing("events", "the types of the events that the consumer gets") }
            return (session, events, from)
        }
        if let session { try context.caller.requireWritable(session, at: "/session") }
        let (consumer, isNew) = try await Problem.naming({ _ in "/from" }) {
            try await store.declareConsumer(
                name, session: session, events: events, from: from, visible: context.caller.visible,
                audit: context.auditNote)
        }
        return .json(consumer.document(try await store.lag(of: consumer)), isNew ? .created : .ok)
    }

    private func delete(_ context: RequestContext) async throws -> Response {
        try await store.deleteConsumer(
            try context.name("consumer"), visible: context.caller.visible, audit: context.auditNote)
        return .noContent
    }

    private func acknowledge(_ context: RequestContext) async throws -> Response {
        let name = try context.name("consumer")
        let progress = try context.body(ConsumerProgress.init(reading:))
        let consumer = try await Problem.naming(progress.pointer(to:)) {
            try await store.acknowledge(progress, by: name, visible: context.caller.visible)
        }
        return .json(consumer.document(try await store.lag(of: consumer)))
    }

    // MARK: Events

    private func events(_ context: RequestContext) async throws -> Response {
        let name = try context.name("consumer")
        let (after, limit, _) = try context.query(Self.selection)
        let (page, _) = try await store.events(of: name, after: after, limit: limit, visible: context.caller.visible)
        return EventRoutes.response(page)
    }

    /// As that of the journal. What the consumer reads is known after the first page.
    private func longPoll(_ context: RequestContext) -> LongPoll.Wait? {
        guard let name = try? context.name("consumer"),
            let (after, limit, seconds) = try? context.query(Self.selection), seconds > 0
        else { return nil }
        let visible = context.caller.visible
        let next = Locked<EventQuery?>(nil)
        @Sendable func response(_ page: EventPage, to query: EventQuery, isLast: Bool) -> CachedResponse? {
            guard page.events.isEmpty else { return .response(EventRoutes.response(page)) }
            // Not after a page with events: a check at the same time could answer with the next page before it.
            var query = query
            query.after = page.nextAfter
            next.withLock { $0 = query }
            return isLast ? .response(EventRoutes.response(page)) : nil
        }
        return LongPoll.Wait(
            topics: [.journal(.everything)], duration: .seconds(seconds),
            check: { isLast in
                guard let query = next.withLock(\.self), let page = feed.page(query) else { return .askStore }
                return response(page, to: query, isLast: isLast).map { .response($0) } ?? .keepWaiting
            },
            askStore: { isLast in
                let after = next.withLock(\.self)?.after ?? after
                let (page, query) = try await store.events(of: name, after: after, limit: limit, visible: visible)
                return response(page, to: query, isLast: isLast)
            })
    }

    private static func selection(
        _ query: inout Query
    ) throws(Problem) -> (after: EventID?, limit: Int, seconds: Int64) {
        (
            try query.integer("after", in: 0...Int64.max), try query.limit(),
            try query.integer("wait", in: 0...Int64(RequestContext.longestWait)) ?? 0
        )
    }
}

extension ConsumerProgress {
    fileprivate func pointer(to event: EventID) -> String {
        through == event ? "/through" : events.contains(event) ? "/events" : "/given_up"
    }

    init(reading reader: inout FieldReader) throws(Problem) {
        let through = try reader.integer("through", in: 0...Int64.max)
        let events = try reader.eventNumbers("events")
        let givenUp = try reader.eventNumbers("given_up")
        guard through != nil || events != nil || givenUp != nil else {
            throw reader.missing("events", "the events that are done; or `through`, for all events up to one")
        }
        self.init(through: through, events: Set(events ?? []), givenUp: Set(givenUp ?? []))
    }
}

extension FieldReader {
    fileprivate mutating func eventNumbers(_ name: String) throws(Problem) -> [EventID]? {
        try value(name, "must be an array of at most 1000 numbers of events") { value in
            guard let values = value.arrayValue, values.count <= 1000 else { return nil }
            let numbers = values.compactMap(\.integerValue).filter { $0 > 0 }
            return numbers.count == values.count ? numbers : nil
        }
    }
}

extension Consumer {
    fileprivate func document(_ lag: ConsumerLag) -> JSON {
        [
            "name": .string(name.text), "session": .optional(session?.text), "events": .strings(events.map(\.text)),
            "acknowledged_through": .integer(acknowledgedThrough),
            "lag": ["events": .count(lag.events), "oldest_at": .optional(lag.oldestAt)],
            "given_up": .count(givenUp), "last_given_up": .optional(lastGivenUp),
            "acknowledged_at": .optional(acknowledgedAt), "created_at": .time(createdAt),
        ]
    }
}
