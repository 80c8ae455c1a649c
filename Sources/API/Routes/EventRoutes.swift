import Downloads
import Formats
import HTTPServer
import HTTPTypes
import Logging
import Storage

/// `/v1/events`: the journal, in pages, in pages that are waited for, and as a stream.
struct EventRoutes: Sendable {
    let store: Store
    let feed: Feed
    let log: Logger

    var routes: [Route] { [Route(.get, "/v1/events", readsQuery: true, mayWait: true, show)] }

    private func show(_ context: RequestContext) async throws -> Response {
        let last = try Self.lastEvent(context)
        return context.wantsEventStream ? try stream(context, from: last) : try await list(context)
    }

    private func list(_ context: RequestContext) async throws -> Response {
        let (query, seconds) = try context.query { query throws(Problem) in
            var wanted = try Self.query(&query)
            wanted.limit = try query.limit()
            return (wanted, try query.integer("wait", in: 0...Int64(RequestContext.longestWait)) ?? 0)
        }
        let page =
            seconds > 0 ? try await pageOnceThere(query, within: .seconds(seconds)) : try await store.events(query)
        return .json(
            ["events": .array(page.events.map(\.document)), "next_after": .integer(page.nextAfter)],
            headers: [.vary: "Accept"])
    }

    /// The first page that is not empty; in the end one that is, and says from where to read on.
    private func pageOnceThere(_ wanted: EventQuery, within duration: Duration) async throws -> EventPage {
        let deadline = ContinuousClock.now + duration
        // Before looking, so that no event slips in between.
        let watcher = feed.watcher(of: [.journal(Topic.Scope(wanted))])
        defer { feed.dismiss(watcher) }
        var query = wanted
        // Whoever waits has usually read everything that there is, which then need not be read again.
        var page = wanted.after == feed.lastEvent ? nil : try await store.events(query)
        while true {
            if let page, !page.events.isEmpty { return page }
            query.after = page?.nextAfter ?? query.after
            let next = if let page = feed.page(query) { page } else { try await store.events(query) }
            guard next.events.isEmpty, await feed.sleep(watcher, until: deadline) == .rung else { return next }
            page = next
        }
    }

    /// From behind the last event that the client had, which a browser says by itself when it comes again.
    private func stream(_ context: RequestContext, from last: EventID?) throws -> Response {
        var query = try context.query(Self.query)
        query.after = last ?? query.after
        let headers: HTTPFields = [
            .contentType: "text/event-stream", .cacheControl: "no-store", .vary: "Accept",
            // A proxy that collects an answer before it passes it on would never pass this one on.
            .accelBuffering: "no",
        ]
        return Response(status: .ok, headers: headers, body: .stream(feed.stream(query, from: store, log: log)))
    }

    /// A page has no use for it, but one that is none is a mistake there, too.
    private static func lastEvent(_ context: RequestContext) throws(Problem) -> EventID? {
        guard let last = context.head.headers[.lastEventID], !last.isEmpty else { return nil }
        guard last.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let id = EventID(last) else {
            throw Problem(.invalidValue, "Last-Event-ID is '\(last)'; it must be the id of an event.")
        }
        return id
    }

    /// What pages and streams have in common.
    private static func query(_ query: inout Query) throws(Problem) -> EventQuery {
        EventQuery(
            after: try query.integer("after", in: 0...Int64.max), session: try query.name("session"),
            job: try query.value("job").map { JobID($0) }, type: try query.value("type").map(Self.pattern))
    }

    private static func pattern(_ text: String) throws(Problem) -> EventPattern {
        guard let pattern = EventPattern(text) else {
            throw Problem(.invalidValue, "The parameter type is '\(text)', which no event matches.")
        }
        return pattern
    }
}

extension HTTPField.Name {
    fileprivate static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
