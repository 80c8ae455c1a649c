import Downloads
import Formats
import HTTPServer
import HTTPTypes
import Locks
import Logging
import Storage

/// `/v1/events`: the journal, as pages, as pages that a client waits for, and as a stream.
struct EventRoutes: Sendable {
    let store: Store
    let feed: Feed
    let log: Logger
    private let waitReplies: ReplyCache<PageKey>

    init(store: Store, feed: Feed, log: Logger, answers: AnswerBudget) {
        (self.store, self.feed, self.log) = (store, feed, log)
        waitReplies = ReplyCache(answers)
    }

    var routes: [Route] {
        [
            Route(
                .get, "/v1/events", .scope(.read, of: .selection), readsQuery: true, takesTicket: true, isLarge: true,
                mayWait: true, park: park, show)
        ]
    }

    private func show(_ context: RequestContext) async throws -> Response {
        let last = try Self.lastEvent(context)
        return context.wantsEventStream ? try stream(context, from: last) : try await list(context)
    }

    private func list(_ context: RequestContext) async throws -> Response {
        let (query, seconds) = try context.query { query throws(Problem) in try Self.pageQuery(&query, context.caller) }
        let page =
            seconds > 0 ? try await pageOnceThere(query, within: .seconds(seconds)) : try await store.events(query)
        return Self.response(page)
    }

    private static func response(_ page: EventPage) -> Response {
        var list = DocumentList("events")
        var next = page.nextAfter
        for (index, event) in page.events.enumerated() where !list.add(event.document) {
            next = page.events[index - 1].id
            break
        }
        return list.response(["next_after": .integer(next)], headers: [.vary: "Accept"])
    }

    /// The events of a page, and the seconds to wait for them.
    private static func pageQuery(
        _ query: inout Query, _ caller: Caller
    ) throws(Problem) -> (EventQuery, seconds: Int64) {
        var wanted = try Self.query(&query, caller)
        wanted.limit = try query.limit()
        return (wanted, try query.integer("wait", in: 0...Int64(RequestContext.longestWait)) ?? 0)
    }

    /// Waits without a task: for a client that has read all events, except those that are still in memory.
    private func park(_ context: RequestContext) -> ParkedRequest.Wait? {
        guard !context.wantsEventStream, Self.hasValidLastEvent(context),
            let (query, seconds) = try? context.query({ query throws(Problem) in
                try Self.pageQuery(&query, context.caller)
            }), seconds > 0,
            (query.after ?? 0) <= feed.lastEvent, feed.page(query) != nil
        else { return nil }
        // Advances past events that do not match the query.
        let position = Locked(query.after)
        @Sendable func reply(_ page: EventPage, to query: EventQuery, isLast: Bool) -> Reply? {
            guard page.events.isEmpty else {
                return waitReplies.reply(for: PageKey(query: query, nextAfter: page.nextAfter)) { Self.response(page) }
            }
            position.withLock { $0 = page.nextAfter }
            return isLast ? .response(Self.response(page)) : nil
        }
        return ParkedRequest.Wait(
            topics: [.journal(Topic.Scope(query))], duration: .seconds(seconds),
            look: { isLast in
                let query = query.continued(after: position.withLock { $0 })
                guard let page = feed.page(query) else { return .askStore }
                return reply(page, to: query, isLast: isLast).map { .reply($0) } ?? .keepWaiting
            },
            askStore: { isLast in
                let query = query.continued(after: position.withLock { $0 })
                do {
                    return reply(try await store.events(query), to: query, isLast: isLast)
                } catch {
                    return .response(Problem(error).response)
                }
            })
    }

    /// Waits with a task. Returns the first page with events. At the deadline it returns an empty page, with the position for the next
    /// request.
    private func pageOnceThere(_ wanted: EventQuery, within duration: Duration) async throws -> EventPage {
        let deadline = ContinuousClock.now + duration
        // The watcher is registered before the first read, so that no event is missed in between.
        let watcher = feed.watcher(of: [.journal(Topic.Scope(wanted))])
        defer { feed.dismiss(watcher) }
        var query = wanted
        // A waiting client has usually read all events, so the first read of the database is skipped.
        var page = wanted.after == feed.lastEvent ? nil : try await store.events(query)
        while true {
            if let page, !page.events.isEmpty { return page }
            query.after = page?.nextAfter ?? query.after
            let next = if let page = feed.page(query) { page } else { try await store.events(query) }
            guard next.events.isEmpty, try await feed.nextChange(watcher, until: deadline) == .rung else {
                return next
            }
            page = next
        }
    }

    /// Streams the events after the last event that the client received. A browser sends its identifier when it
    /// reconnects.
    private func stream(_ context: RequestContext, from last: EventID?) throws -> Response {
        var query = try context.query { query throws(Problem) in try Self.query(&query, context.caller) }
        query.after = last ?? query.after
        let headers: HTTPFields = [
            .contentType: "text/event-stream", .cacheControl: "no-store", .vary: "Accept",
            // A proxy that buffers responses would hold this one back for ever.
            .accelBuffering: "no",
        ]
        return Response(
            status: .ok, headers: headers,
            body: .stream(feed.stream(query, from: store, log: log, while: permission(of: context.caller))))
    }

    /// Whether the token of a stream is still valid: a stream can outlive it.
    private func permission(of caller: Caller) -> @Sendable () -> Bool {
        guard let digest = caller.digest else { return { true } }
        return { [store] in
            let now = store.time.now
            return store.tokens.match(digest, at: now).map { !$0.token.isExpired(at: now) } ?? false
        }
    }

    private static func hasValidLastEvent(_ context: RequestContext) -> Bool {
        do {
            _ = try lastEvent(context)
            return true
        } catch {
            return false
        }
    }

    /// Reads `Last-Event-ID`. A page does not use the field, but an invalid value is an error there as well.
    private static func lastEvent(_ context: RequestContext) throws(Problem) -> EventID? {
        guard let last = context.head.headers[.lastEventID], !last.isEmpty else { return nil }
        guard last.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let id = EventID(last) else {
            throw Problem(.invalidValue, "Last-Event-ID is '\(last)'; it must be the id of an event.")
        }
        return id
    }

    /// Reads the parameters that pages and streams share.
    private static func query(_ query: inout Query, _ caller: Caller) throws(Problem) -> EventQuery {
        var wanted = EventQuery(
            after: try query.integer("after", in: 0...Int64.max), session: try query.name("session"),
            job: try query.value("job").map { JobID($0) }, type: try query.value("type").map(Self.pattern))
        wanted.visible = caller.visible
        return wanted
    }

    private static func pattern(_ text: String) throws(Problem) -> EventPattern {
        guard let pattern = EventPattern(text) else {
            throw Problem(.invalidValue, "The parameter type is '\(text)', which matches no event type.")
        }
        return pattern
    }
}

/// Determines a page: the events between two positions do not change.
private struct PageKey: Hashable, Sendable {
    let query: EventQuery
    let nextAfter: EventID
}

extension EventQuery {
    fileprivate func continued(after position: EventID?) -> EventQuery {
        var query = self
        query.after = position
        return query
    }
}

extension HTTPField.Name {
    fileprivate static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
