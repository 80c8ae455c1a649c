import Engine
import HTTPServer
import Storage

/// Liveness, readiness and the API description. These routes need no token.
struct HealthRoutes: Sendable {
    let store: Store
    let engine: Engine
    let readiness: Readiness

    var routes: [Route] {
        [
            Route(.get, "/livez", isOpen: true) { _ in .json(["status": "alive"]) },
            Route(.get, "/readyz", isOpen: true, ready),
            Route(.get, "/openapi.yaml", isOpen: true) { _ in
                Response(
                    status: .ok, headers: [.contentType: "application/yaml"],
                    body: .bytes(PackageResources.openapi_yaml))
            },
        ]
    }

    private func ready(_ context: RequestContext) async throws -> Response {
        try readiness.check()
        if let fault = engine.folderFault { throw unready(fault) }
        do {
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
