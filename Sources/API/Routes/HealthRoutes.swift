import Downloads
import HTTPServer
import Storage

/// Whether the service lives and is ready, and what it speaks: open to everybody who reaches the port.
struct HealthRoutes: Sendable {
    let store: Store
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

    private func ready(_ call: Call) async throws -> Response {
        try readiness.check()
        do {
            try store.check()
            return .json(["status": "ready"])
        } catch {
            var problem = Problem(.unavailable, "\(error)")
            problem.headers[.retryAfter] = "1"
            throw problem
        }
    }
}
