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
        let last = list.add(entries, \.document) ?? entries.last
        return list.response(["next_after": .integer(last?.id ?? after)])
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

extension AuditNote {
    init(_ head: RequestHead, ofAria2 caller: Caller?) {
        self.init(
            caller: caller?.label, name: caller?.token?.name, address: head.clientAddress,
            action: "\(head.method.rawValue) \(Aria2Routes.path)", target: nil)
    }

    /// - Parameters:
    ///   - caller: nil: the request was refused before its caller was known.
    ///   - match: nil: the request was refused before its route was known.
    init(_ head: RequestHead, _ caller: Caller?, _ match: RouteMatch?) {
        let action = match.map { "\($0.route.method.rawValue) /\($0.route.pattern.joined(separator: "/"))" }
        self.init(
            caller: caller?.label, name: caller?.token?.name, address: head.clientAddress, action: action ?? "request",
            // What an unknown caller sends is not stored.
            target: caller == nil ? nil : match?.target)
    }
}

extension RouteMatch {
    /// The names and identifiers in the path; nil if it has none, or has other text.
    fileprivate var target: String? {
        let names = route.parameters.map { String(path[$0.position]) }
        guard !names.isEmpty, names.allSatisfy({ Name($0) != nil }) else { return nil }
        return names.joined(separator: "/")
    }
}

extension Store {
    /// Counts a refused request for the audit log, if the log has refusals of this kind.
    func audit(_ problem: Problem, _ note: @autoclosure () -> AuditNote) {
        guard problem.kind.isAudited else { return }
        refusals.add(note(), problem.kind.rawValue, at: time.now)
    }
}

extension RequestContext {
    var auditNote: AuditNote { AuditNote(head, caller, match) }
}
