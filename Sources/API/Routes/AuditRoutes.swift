import Downloads
import Formats
import HTTPServer
import Storage

/// `/v1/audit`: who has changed tokens, sessions and webhooks, and which requests were refused.
struct AuditRoutes: Sendable {
    let store: Store

    var routes: [Route] {
        [Route(.get, "/v1/audit", .scope(.admin, of: .service), readsQuery: true, isLarge: true, list)]
    }

    private func list(_ context: RequestContext) async throws -> Response {
        let (after, limit) = try context.query { query throws(Problem) in
            (try query.integer("after", in: 0...Int64.max) ?? 0, try query.limit())
        }
        // The page has the refusals until now.
        try await store.storeRefusals()
        let entries = try await store.audit(after: after, limit: limit)
        var list = DocumentList("entries")
        var last = after
        for entry in entries {
            guard list.add(entry.document) else { break }
            last = entry.id
        }
        return list.response(["next_after": .integer(last)])
    }
}

extension AuditEntry {
    fileprivate var document: JSON {
        [
            "id": .integer(id), "time": .time(time), "caller": .optional(note.caller),
            "name": .optional(note.name?.text), "address": .string(note.address), "action": .string(note.action),
            "target": .optional(note.target), "outcome": .string(outcome.rawValue), "reason": .optional(reason),
            "change": .optional(change), "count": .count(count),
        ]
    }
}
