import Downloads
import Engine
import HTTPServer
import HTTPTypes
import Storage

/// `/v1/sessions`: declares and changes sessions, reads their status, carries out actions on all of their jobs, and deletes them.
struct SessionRoutes: Sendable {
    let store: Store
    let engine: Engine
    let feed: Feed

    var routes: [Route] {
        [
            Route(.get, "/v1/sessions", .scope(.read, of: .selection), isLarge: true, list),
            Route(
                .put, "/v1/sessions/{session}", .scope(.sessions, of: .session),
                body: .optional(limit: JSONBody.limit), declare),
            Route(.get, "/v1/sessions/{session}", .scope(.read, of: .session), readsQuery: true, mayWait: true, show),
            Route(
                .patch, "/v1/sessions/{session}", .scope(.sessions, of: .session),
                body: .required(limit: JSONBody.limit), change),
            Route(.delete, "/v1/sessions/{session}", .scope(.sessions, of: .session), readsQuery: true, delete),
            Route(
                .post, "/v1/sessions/{session}/acknowledge", .scope(.sessions, of: .session),
                body: .required(limit: JSONBody.limit), acknowledge),
            actionRoute(.pause, "/v1/sessions/{session}/pause"),
            actionRoute(.resume, "/v1/sessions/{session}/resume"),
            actionRoute(.cancel, "/v1/sessions/{session}/cancel"),
        ]
    }

    private func actionRoute(_ action: JobSignal.Action, _ path: StaticString) -> Route {
        Route(.post, path, .scope(.sessions, of: .session), body: .optional(limit: JSONBody.limit)) { context in
            let session = try context.name("session")
            return .json(try await engine.perform(try JobRoutes.request(action, context), onAllOf: session).document)
        }
    }

    private func list(_ context: RequestContext) async throws -> Response {
        var list = DocumentList("sessions")
        var last = ""
        while true {
            let sessions = try await store.sessions(after: last, limit: Self.sessionsAtOnce)
            for status in sessions where context.caller.visible.contain(status.session.id) {
                try list.require(status.document, "Ask for each session by its name.")
            }
            guard sessions.count == Self.sessionsAtOnce else { return list.response() }
            last = sessions.last?.session.id.text ?? ""
            try Task.checkCancellation()
        }
    }

    private static let sessionsAtOnce = 100

    /// Declares a session. A body replaces the configuration; without a body, an existing session does not change.
    private func declare(_ context: RequestContext) async throws -> Response {
        let name = try context.name("session")
        let configuration = context.hasBody ? try context.body(SessionConfiguration.init(reading:)) : nil
        let (status, isNew) = try await engine.declareSession(
            name, configuration: configuration, expecting: try context.sessionExpectation(), audit: context.auditNote)
        return status.response(isNew ? .created : .ok)
    }

    /// Changes the members of the configuration that the body names.
    private func change(_ context: RequestContext) async throws -> Response {
        let patch = try context.body { reader throws(Problem) in SessionPatch(reading: &reader) }
        let revision = try context.expectedRevision()
        while true {
            let session = try await store.session(try context.name("session")).session
            if let revision, revision != session.revision {
                throw StoreError.sessionChanged(session.id, now: session.revision)
            }
            let configuration = try patch.applied(to: session.configuration)
            let status = try await engine.changeSession(session, to: configuration, audit: context.auditNote)
            if let status { return status.response() }
            // Another request changed the session first. The patch is applied again, to the present configuration.
        }
    }

    /// Deletes the session when its jobs and deliveries are settled.
    private func delete(_ context: RequestContext) async throws -> Response {
        let cancels = try context.query { query throws(Problem) in
            try query.choice("outstanding", of: OutstandingChoice.self) == .cancel
        }
        let status = try await engine.invalidate(
            try context.name("session"), cancels: cancels, audit: context.auditNote)
        guard let status else { return .noContent }
        return .json(status.document, .accepted)
    }

    private enum OutstandingChoice: String, CaseIterable { case finish, cancel }

    private func acknowledge(_ context: RequestContext) async throws -> Response {
        let session = try context.name("session")
        let through = try context.body { reader throws(Problem) in
            try reader.eventNumber("through", "the number of the last event that you have processed")
        }
        do {
            try await store.acknowledge(session, through: through)
        } catch let error as StoreError {
            var problem = Problem(error)
            if case .noSuchEvent = error { problem.pointer = "/through" }
            throw problem
        }
        return .json(try await store.session(session).document)
    }
}
