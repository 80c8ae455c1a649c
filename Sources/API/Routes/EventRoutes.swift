import Downloads
import HTTPServer
import Storage

/// `/v1/events`: the journal.
struct EventRoutes: Sendable {
    let store: Store

    var routes: [Route] { [Route(.get, "/v1/events", readsQuery: true, list)] }

    private func list(_ call: Call) async throws -> Response {
        let query = try call.query { query throws(Problem) in
            EventQuery(
                after: try query.integer("after", in: 0...Int64.max), session: try query.name("session"),
                job: try query.value("job").map { JobID($0) }, type: try query.value("type").map(Self.pattern),
                limit: try query.limit())
        }
        let page = try store.events(query)
        return .json(["events": .array(page.events.map(\.document)), "next_after": .integer(page.nextAfter)])
    }

    private static func pattern(_ text: String) throws(Problem) -> EventPattern {
        guard let pattern = EventPattern(text) else {
            throw Problem(.invalidValue, "The parameter type is '\(text)', which no event matches.")
        }
        return pattern
    }
}
