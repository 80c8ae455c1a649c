import Downloads
import Engine
import Formats
import HTTPServer

/// `/v1/locations`: where files can go, and how many jobs wait for each place.
struct LocationRoutes: Sendable {
    let engine: Engine

    var routes: [Route] { [Route(.get, "/v1/locations", .scope(.read, of: .selection), list)] }

    private func list(_ context: RequestContext) async throws -> Response {
        let caller = context.caller
        let locations = try await engine.locations(where: caller.grant.allow, of: caller.visible)
        return .json(["locations": .array(locations.map { $0.document(forAdministrator: caller.isAdministrator) })])
    }
}

extension LocationStatus {
    fileprivate func document(forAdministrator isForAdministrator: Bool) -> JSON {
        var document: JSONObject = [
            "name": .string(name.text), "kind": "folder", "healthy": .bool(why == nil), "why": .optional(why),
            "free_bytes": .optional(freeBytes), "waiting": .count(waiting),
        ]
        if isForAdministrator { document["path"] = .string(path) }
        return .object(document)
    }
}
