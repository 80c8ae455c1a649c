import Downloads
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Storage

/// `/v1/tokens`: creates, lists, rotates and revokes tokens.
struct TokenRoutes: Sendable {
    let store: Store

    var routes: [Route] {
        [
            Route(.post, "/v1/tokens", .scope(.admin, of: .service), body: .json, create),
            Route(.get, "/v1/tokens", .scope(.admin, of: .service), isLarge: true, list),
            Route(.get, "/v1/tokens/{id}", .scope(.admin, of: .service), show),
            Route(.delete, "/v1/tokens/{id}", .scope(.admin, of: .service), delete),
            Route(.post, "/v1/tokens/{id}/rotate", .scope(.admin, of: .service), body: .optionalJSON, rotate),
        ]
    }

    /// Responds with the secret. fetchd stores only its digest, so a lost response cannot be repeated, and
    /// `Idempotency-Key` has no effect.
    private func create(_ context: RequestContext) async throws -> Response {
        let now = store.time.now
        let new = try context.body { reader throws(Problem) in try NewToken(reading: &reader, at: now) }
        let secret = TokenSecret.random()
        let token = try await store.createToken(new, with: secret.digest, audit: context.auditNote)
        return .json(
            token.document(secret: secret), .created,
            headers: [.location: "tokens/\(token.id)", .cacheControl: "no-store"])
    }

    private func list(_ context: RequestContext) async throws -> Response {
        var list = DocumentList("tokens")
        for token in store.tokens.all { try list.require(token.document(), "Ask for each token by its identifier.") }
        return list.response()
    }

    private func show(_ context: RequestContext) async throws -> Response {
        .json(try store.tokens.token(context.token).document())
    }

    private func delete(_ context: RequestContext) async throws -> Response {
        try await store.deleteToken(context.token, audit: context.auditNote)
        return .noContent
    }

    private func rotate(_ context: RequestContext) async throws -> Response {
        let overlap = try context.optionalBody { reader throws(Problem) in
            // At most a week.
            try reader.seconds("overlap_seconds", in: 0...604_800)
        }
        let secret = TokenSecret.random()
        let token = try await store.rotateToken(
            context.token, to: secret.digest, overlap: overlap ?? 0, audit: context.auditNote)
        return .json(token.document(secret: secret), headers: [.cacheControl: "no-store"])
    }
}

extension RequestContext {
    fileprivate var token: TokenID { TokenID(parameter("id")) }
}

extension NewToken {
    /// - Parameter now: a token must expire after it.
    init(reading reader: inout FieldReader, at now: Date) throws(Problem) {
        let name = try reader.string("name", "must be 1 to 128 of A-Z a-z 0-9 . _ -") { Name($0) }
        let scope = try reader.choice("scope", of: Scope.self)
        let sessions = try reader.visibleSessions("sessions")
        let locations = try reader.locations("locations")
        let quotas = try reader.object("quotas", TokenQuotas.init(reading:)) ?? .none
        let expiresAt = try reader.time("expires_at")
        if let expiresAt, expiresAt <= now { throw reader.invalid("expires_at", "must be in the future") }
        guard let scope else { throw reader.missing("scope", "what the token allows: read, jobs, sessions or admin") }
        guard let grant = Permissions(scope, in: sessions, to: locations) else {
            let name = sessions == .all ? "locations" : "sessions"
            throw reader.invalid(name, "cannot be given for the scope admin, which is for the whole service")
        }
        self.init(name: name, grant: grant, quotas: quotas, expiresAt: expiresAt)
    }
}

extension TokenQuotas {
    fileprivate init(reading reader: inout FieldReader) throws(Problem) {
        self.init(
            outstandingJobs: try reader.integer("outstanding_jobs", in: 0...1_000_000_000).map(Int.init),
            bytesPerDay: try reader.integer("bytes_per_day", in: 0...(1 << 60)),
            concurrentTransfers: try reader.integer("concurrent_transfers", in: 0...10_000).map(Int.init),
            requestsPerSecond: try reader.integer("requests_per_second", in: 1...1_000_000).map(Int.init))
    }
}

extension FieldReader {
    fileprivate mutating func visibleSessions(_ name: String) throws(Problem) -> VisibleSessions {
        guard let texts = try strings(name) else { return .all }
        guard (1...Self.mostPatterns).contains(texts.count), Set(texts).count == texts.count else {
            throw invalid(
                name, "must contain 1 to \(Self.mostPatterns) names or patterns, each once; omit it for all sessions")
        }
        return .matching(
            try texts.map { text throws(Problem) in
                if let pattern = SessionPattern(text) { return pattern }
                throw invalid(
                    name,
                    "contains '\(text)'; it takes names of sessions, and names with a star at the end, such as films*; omit it for all sessions"
                )
            })
    }

    /// A location that is not declared yet can be named.
    fileprivate mutating func locations(_ name: String) throws(Problem) -> [Name]? {
        guard let texts = try strings(name) else { return nil }
        let names = texts.compactMap { Name($0) }
        guard (1...Self.mostPatterns).contains(names.count), Set(names).count == texts.count else {
            throw invalid(name, "must contain 1 to \(Self.mostPatterns) names, each once; omit it for all locations")
        }
        return names
    }

    private static let mostPatterns = 32
}

extension Token {
    /// - Parameter secret: only in the response that creates or replaces it.
    func document(secret: TokenSecret? = nil) -> JSON {
        var document: JSONObject = [
            "id": .string(id.text), "name": .optional(name?.text), "scope": .string(grant.scope.rawValue),
            "sessions": grant.sessions.document,
            "locations": grant.locationsDocument, "quotas": quotas.document, "created_at": .time(createdAt),
            "expires_at": .optional(expiresAt),
            "last_used_at": .optional(lastUsedAt), "former_token_until": .optional(formerSecretUntil),
        ]
        if let secret { document["token"] = .string(secret.text) }
        return .object(document)
    }
}

extension TokenQuotas {
    fileprivate var document: JSON {
        [
            "outstanding_jobs": .optional(outstandingJobs), "bytes_per_day": .optional(bytesPerDay),
            "concurrent_transfers": .optional(concurrentTransfers),
            "requests_per_second": .optional(requestsPerSecond),
        ]
    }
}

extension Permissions {
    /// The names; null for all locations.
    var locationsDocument: JSON { locations.map { .strings($0.map(\.text)) } ?? .null }
}

extension VisibleSessions {
    /// The patterns; null for all sessions.
    var document: JSON {
        switch self {
        case .all: .null
        case .matching(let patterns): .strings(patterns.map(\.text))
        }
    }
}
