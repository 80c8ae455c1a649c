import CEmbeddedFiles
import Engine
import Formats
import HTTPServer
import Storage

/// Liveness, readiness and the API description. These routes need no token.
struct HealthRoutes: Sendable {
    let store: Store
    let engine: Engine
    let readiness: Readiness

    var routes: [Route] {
        [
            Route(.get, "/livez", .open, immediate: Self.aliveImmediately) { _ in .json(Self.alive) },
            Route(.get, "/readyz", .open, ready),
            Route(.get, "/openapi.yaml", .open, immediate: Self.describeImmediately) { _ in Self.description },
        ]
    }

    private static let description = Response(
        status: .ok, headers: [.contentType: "application/yaml"], body: .bytes(embedded_api_description().content))
    /// One for all clients: it is large, and needs no token.
    private static let preparedDescription = PreparedResponse(description)
    private static let alive: JSON = ["status": "alive"]
    private static let preparedAlive = PreparedResponse(.json(alive))

    private static func aliveImmediately(_ context: RequestContext) -> Answer? {
        context.head.query == nil ? preparedAlive.map(Answer.prepared) : nil
    }

    private static func describeImmediately(_ context: RequestContext) -> Answer? {
        context.head.query == nil ? preparedDescription.map(Answer.prepared) : nil
    }

    private func ready(_ context: RequestContext) async throws -> Response {
        try readiness.checkForBalancer()
        if let fault = engine.folderFault { throw unready(fault) }
        do {
            try store.requireLease()
            try await store.check()
            return .json(["status": "ready"])
        } catch {
            throw unready("\(error)")
        }
    }

    private func unready(_ why: String) -> Problem {
        var problem = Problem(.unavailable, why)
        problem.headers[.retryAfter] = "1"
        return problem
    }
}
