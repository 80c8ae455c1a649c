import Downloads
import Formats
import HTTPServer
import HTTPTypes
import Storage

/// `/v1/tokens`: creates, lists, rotates and revokes tokens.
struct TokenRoutes: Sendable {
    let store: Store

    var routes: [Route] {
        [
            Route(
                .post, "/v1/tokens", .scope(.admin, of: .service), body: .required(limit: JSONBody.limit), create),
            Route(.get, "/v1/tokens", .scope(.admin, of: .service), isLarge: true, list),
            Route(.get, "/v1/tokens/{id}", .scope(.admin, of: .service), show),
            Route(.delete, "/v1/tokens/{id}", .scope(.admin, of: .service), delete),
            Route(
                .post, "/v1/tokens/{id}/rotate", .scope(.admin, of: .service), body: .optional(limit: JSONBody.limit),
                rotate),
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
        let overlap =
            context.hasBody
            ? try context.body { reader throws(Problem) in
                try reader.seconds("overlap_seconds", in: 0...Self.longestOverlap)
            } : nil
        let secret = TokenSecret.random()
        let token = try await store.rotateToken(
            context.token, to: secret.digest, overlap: overlap ?? 0, audit: context.auditNote)
        return .json(token.document(secret: secret), headers: [.cacheControl: "no-store"])
    }

    /// Seconds: a week.
    private static let longestOverlap = 604_800.0
}

extension RequestContext {
    fileprivate var token: TokenID { TokenID(parameter("id")) }
}
