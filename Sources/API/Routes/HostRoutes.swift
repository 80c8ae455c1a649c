import Downloads
import Engine
import Formats
import HTTPServer
import Storage

/// `/v1/hosts`: the servers of the downloads, and when they get requests.
struct HostRoutes: Sendable {
    let engine: Engine

    var routes: [Route] {
        [
            Route(.get, "/v1/hosts", .scope(.read, of: .selection), isLarge: true, list),
            Route(.post, "/v1/hosts/{host}/open", .scope(.admin, of: .service), body: .optionalJSON, open),
        ]
    }

    private func list(_ context: RequestContext) async throws -> Response {
        let hosts = try await engine.hosts(visible: context.caller.visible)
        return .json(["hosts": .array(hosts.map { $0.host.document($0.load) })])
    }

    private func open(_ context: RequestContext) async throws -> Response {
        try context.requireNoOptions()
        let name = context.parameter("host").lowercased()
        guard let (host, load) = try await engine.openHost(name, audit: context.auditNote) else {
            throw Problem(
                .notFound,
                "No download has sent a request to '\(name)' lately. Name it with its port, as GET /v1/hosts does.")
        }
        return .json(host.document(load))
    }
}

extension HostView {
    fileprivate func document(_ load: HostLoad) -> JSON {
        [
            "host": .string(host), "state": .string(state.rawValue), "closed_until": .optional(closedUntil),
            "why": .optional(reason.map { $0.sentence(status) }), "requests_per_second": .optional(requestsPerSecond),
            "next_start": .optional(nextStart), "running": .count(load.running), "queued": .count(load.queued),
        ]
    }
}
