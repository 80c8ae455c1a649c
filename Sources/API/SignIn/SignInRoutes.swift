import Downloads
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Storage

/// `/v1/sign-in` and `/v1/tickets`: how browsers prove their token where a page cannot, or should not, send it.
struct SignInRoutes: Sendable {
    let signIns: SignIns
    let time: any TimeSource

    var routes: [Route] {
        [
            Route(.get, "/v1/sign-in", .scope(.read, of: .selection), show),
            Route(.post, "/v1/sign-in", .scope(.read, of: .selection), body: .optional(limit: 4096), signIn),
            // A browser whose token was revoked can still remove its cookie.
            Route(.delete, "/v1/sign-in", .open, signOut),
            Route(.post, "/v1/tickets", .scope(.read, of: .selection), body: .optional(limit: 4096), issueTicket),
        ]
    }

    private func show(_ context: RequestContext) async throws -> Response {
        let caller = context.caller
        return .json([
            "by": .string(caller.proof.rawValue), "token": caller.token.map { .string($0.id.text) } ?? .null,
            "name": caller.token?.name.map { .string($0.text) } ?? .null, "scope": .string(caller.grant.scope.rawValue),
            "sessions": caller.visible.document, "expires_at": .optional(caller.token?.expiresAt),
        ])
    }

    private func signIn(_ context: RequestContext) async throws -> Response {
        let options = try Options(context)
        guard let subject = context.caller.subject else {
            throw Problem(
                .stateConflict, "The service needs no token from this address, so there is nothing to sign in with.")
        }
        let expiry = time.now.addingTimeInterval(TimeInterval(options.lifetime))
        let cookie = signIns.cookie(for: subject, until: min(expiry, context.caller.token?.expiresAt ?? expiry))
        return Self.settingCookie(
            SignInCookie.field(cookie.value, maxAge: options.lifetime, isSecure: options.isSecure))
    }

    private func signOut(_ context: RequestContext) async throws -> Response {
        Self.settingCookie(SignInCookie.field("", maxAge: 0, isSecure: false))
    }

    private func issueTicket(_ context: RequestContext) async throws -> Response {
        try context.requireNoOptions()
        let ticket = signIns.ticket(for: context.caller.subject, at: time.now)
        return .json(["ticket": .string(ticket.text), "expires_at": .time(ticket.expiresAt)], .created)
    }

    private static func settingCookie(_ field: String) -> Response {
        Response(status: .noContent, headers: [.setCookie: field, .cacheControl: "no-store"])
    }
}

extension SignInRoutes {
    /// The body of `POST /v1/sign-in`.
    private struct Options {
        let isSecure: Bool
        /// In seconds.
        let lifetime: Int

        init(_ context: RequestContext) throws(Problem) {
            guard context.hasBody else {
                (isSecure, lifetime) = (false, Self.defaultLifetime)
                return
            }
            (isSecure, lifetime) = try context.body { (body) throws(Problem) in
                (
                    try body.bool("secure") ?? false,
                    try body.integer("lifetime_seconds", in: 60...31_536_000).map(Int.init) ?? Self.defaultLifetime
                )
            }
        }

        /// 30 days.
        private static let defaultLifetime = 2_592_000
    }
}
