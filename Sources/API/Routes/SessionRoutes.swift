import Downloads
import HTTPServer
import HTTPTypes
import Storage

/// `/v1/sessions`: declaring sessions and reading how they stand.
struct SessionRoutes: Sendable {
    let store: Store

    var routes: [Route] {
        [
            Route(.get, "/v1/sessions", list),
            Route(.put, "/v1/sessions/{session}", body: .optional(limit: JSONBody.limit), declare),
            Route(.get, "/v1/sessions/{session}", show),
        ]
    }

    private func list(_ call: Call) async throws -> Response {
        try call.query { _ throws(Problem) in }
        return .json(["sessions": .array(try store.sessions().map(\.document))])
    }

    /// With a body, the body is the configuration; without one, nothing changes.
    private func declare(_ call: Call) async throws -> Response {
        let name = try call.name("session")
        let configuration = call.hasBody ? try call.body(SessionConfiguration.init(reading:)) : nil
        let (status, isNew) = try await store.declareSession(name, configuration: configuration)
        return .json(status.document, isNew ? .created : .ok)
    }

    private func show(_ call: Call) async throws -> Response {
        .json(try store.session(try call.name("session")).document)
    }
}
