import Base
import Downloads
import Formats
import HTTPServer
import HTTPTypes
import Logging
import Storage

/// `/v1/events`: the journal, as pages, as pages that a client waits for, and as a stream.
struct EventRoutes: Sendable {
    let store: Store
    let feed: Feed
    let log: Logger
    let authentication: Authentication
    let pages: EventPages

    var routes: [Route] {
        [
            Route(
                .get, "/v1/events", .scope(.read, of: .selection), readsQuery: true, takesOneTimeToken: true,
                isLarge: true, mayWait: true, longPoll: longPoll, show)
        ]
    }

    private func show(_ context: RequestContext) async throws -> Response {
        let last = try Self.lastEvent(context)
        return context.wantsEventStream ? try stream(context, from: last) : try await list(context)
    }

    private func list(_ context: RequestContext) async throws -> Response {
        let query = try context.query { query throws(Problem) in try Self.pageQuery(&query, context.caller).0 }
        return Self.response(try await store.events(query))
    }

    static func response(_ page: EventPage) -> Response {
        var list = DocumentList("events")
        let next = list.add(page.events, \.document)?.id ?? page.nextAfter
        return list.response(["next_after": .integer(next)], headers: [.vary: "Accept"])
    }

    private static func pageQuery(
        _ query: inout Query, _ caller: Caller
    ) throws(Problem) -> (EventQuery, seconds: Int64) {
        var wanted = try Self.query(&query, caller)
        wanted.limit = try query.limit()
        return (wanted, try query.integer("wait", in: 0...Int64(RequestContext.longestWait)) ?? 0)
    }

    /// Responds with the first page that has events. At the deadline the page is empty, and has the position for the next
    /// request. nil for a client that does not wait.
    private func longPoll(_ context: RequestContext) -> LongPoll.Wait? {
        guard !context.wantsEventStream, Self.hasValidLastEvent(context),
            let (query, seconds) = try? context.query({ query throws(Problem) in
                try Self.pageQuery(&query, context.caller)
            }), seconds > 0
        else { return nil }
        // Advances past events that do not match the query.
        let (position, head) = (Locked(query.after), context.head)
        @Sendable func response(_ page: EventPage, to query: EventQuery, isLast: Bool) -> CachedResponse? {
            guard page.events.isEmpty else {
                let key = EventPageKey(query: query, nextAfter: page.nextAfter, isGzip: head.acceptsGzip)
                return pages.response(for: key) { Self.response(page).coded(for: head) }
            }
            position.withLock { $0 = page.nextAfter }
            return isLast ? .response(Self.response(page)) : nil
        }
        return LongPoll.Wait(
            topics: [.journal(Topic.Scope(query))], duration: .seconds(seconds),
            check: { isLast in
                let query = query.continued(after: position.withLock { $0 })
                // The database knows whether a later position exists.
                guard (query.after ?? 0) <= feed.lastEvent, let page = feed.page(query) else { return .askStore }
                return response(page, to: query, isLast: isLast).map { .response($0) } ?? .keepWaiting
            },
            askStore: { isLast in
                let query = query.continued(after: position.withLock { $0 })
                return response(try await store.events(query), to: query, isLast: isLast)
            })
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
        guard caller.digest != nil else { return { true } }
        return { [authentication] in (try? authentication.confirm(caller)) != nil }
    }

    private static func hasValidLastEvent(_ context: RequestContext) -> Bool {
        do { _ = try lastEvent(context) } catch { return false }
        return true
    }

    /// Reads `Last-Event-ID`. A page does not use the field, but an invalid value is an error there as well.
    private static func lastEvent(_ context: RequestContext) throws(Problem) -> EventID? {
        guard let last = context.head.headers[.lastEventID], !last.isEmpty else { return nil }
        guard last.utf8.allSatisfy(\.isASCIIDigit), let id = EventID(last) else {
            throw Problem(.invalidValue, "Last-Event-ID is '\(last)'; it must be the id of an event.")
        }
        return id
    }

    private static func query(_ query: inout Query, _ caller: Caller) throws(Problem) -> EventQuery {
        var wanted = EventQuery(
            after: try query.integer("after", in: 0...Int64.max), session: try query.name("session"),
            job: try query.value("job").map { JobID($0) },
            types: try query.value("type").map { text throws(Problem) in [try Self.pattern(text)] } ?? [])
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
struct EventPageKey: Hashable, Sendable {
    let query: EventQuery
    let nextAfter: EventID
    let isGzip: Bool
}

/// Keeps the pages for waiting requests for the moment in which an event wakes many of them: most get the same page, which is
/// rendered once.
final class EventPages: Sendable {
    private let pages = Locked<[EventPageKey: PreparedResponse]>([:])
    private let answers: ResponseBudget

    init(_ answers: ResponseBudget) { self.answers = answers }

    func response(for key: EventPageKey, make: () -> Response) -> CachedResponse {
        if let known = pages.withLock({ $0[key] }) { return .prepared(known) }
        let response = make()
        guard let prepared = answers.prepared(response) else { return .response(response) }
        pages.withLock { pages in
            // Starting again costs less than keeping them in the order of their use.
            if pages.count >= Self.limit { pages.removeAll(keepingCapacity: true) }
            pages[key] = prepared
        }
        return .prepared(prepared)
    }

    private static let limit = 64
}

extension EventQuery {
    fileprivate func continued(after position: EventID?) -> EventQuery {
        var query = self
        query.after = position
        return query
    }
}
