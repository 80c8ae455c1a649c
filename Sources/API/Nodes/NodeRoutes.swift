import Engine
import Formats
import Foundation
import HTTPServer
import Storage

/// `/v1/nodes`: the services that share the database. A service with a database of its own is its only node.
struct NodeRoutes: Sendable {
    let store: Store
    let engine: Engine
    let version: String
    // As in `StatsRoutes`, by the wall clock.
    private let startedAt = SystemTime().now

    var routes: [Route] {
        [
            Route(.get, "/v1/nodes", .scope(.read, of: .service), list),
            Route(.delete, "/v1/nodes/{number}", .scope(.admin, of: .service), forget),
        ]
    }

    private func forget(_ context: RequestContext) async throws -> Response {
        let text = context.parameter("number")
        guard let number = Int64(text) else { throw Problem(.notFound, "'\(text)' is not the number of a node.") }
        try await store.forgetNode(number, audit: context.auditNote)
        return .noContent
    }

    private func list(_ context: RequestContext) async throws -> Response {
        let nodes = try await store.nodes()
        guard let own = store.node else { return .json(["nodes": [try await single()]]) }
        return .json(["nodes": .array(nodes.map { $0.document(isSelf: $0.node.number == own.number) })])
    }

    private func single() async throws -> JSON {
        let (census, load) = (try await store.statistics(), await engine.load(since: .zero))
        return [
            "id": nil, "number": 1, "epoch": 1, "state": "running", "url": nil, "version": .string(version),
            "downloads": "local",
            "started_at": .time(startedAt), "lease_expires_in_seconds": nil, "is_self": true, "is_leader": true,
            "is_draining": false, "slots": .count(load.slots), "running": .count(census.jobs[.running] ?? 0),
        ]
    }
}

extension NodeStatus {
    fileprivate func document(isSelf: Bool) -> JSON {
        [
            "id": .string(id), "number": .integer(node.number), "epoch": .integer(node.epoch),
            "state": .string(state.rawValue), "url": .optional(url),
            "version": .string(version), "downloads": sharesDownloads ? "shared" : "local",
            "started_at": .time(startedAt), "lease_expires_in_seconds": .optional(leaseSeconds),
            "is_self": .bool(isSelf), "is_leader": .bool(isLeader), "is_draining": .bool(isDraining),
            "slots": .count(slots), "running": .count(running),
        ]
    }
}
