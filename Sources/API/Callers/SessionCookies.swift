import Base
import Downloads
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Storage

/// What stands for a token when a browser cannot send it: cookies, which name the token, and tickets for one request.
struct SessionCookies: Sendable {
    /// The token behind a cookie or a ticket, by the digest of its secret. Whether it still holds is checked with each request,
    /// so a revoked token ends its sign-ins and tickets.
    struct Subject: Sendable, Equatable {
        /// `tok_…`, or `service` for `FETCHD_TOKEN`.
        let name: String
        let digest: TokenDigest
    }

    /// At least 32 random bytes, the same on all nodes. Only its holders can make cookies and tickets.
    private let key: [UInt8]
    private let usedTokens = UsedOneTimeTokens()

    init(key: [UInt8]) { self.key = key }

    func cookie(for subject: Subject, until expiry: Date) -> SessionCookie {
        SessionCookie(subject: subject.name, expiresAt: expiry, digest: subject.digest, key: key)
    }

    func isGenuine(_ cookie: SessionCookie, digest: TokenDigest, now: Date) -> Bool {
        cookie.isGenuine(digest: digest, key: key, now: now)
    }

    /// - Parameter holder: nil for a caller that needs no token.
    func ticket(for holder: Subject?, at now: Date) -> OneTimeToken {
        OneTimeToken(for: holder?.digest, expiresAt: now.addingTimeInterval(Self.oneTimeTokenLifetime), key: key)
    }

    /// Uses a ticket.
    ///
    /// - Returns: nil if no node has made it, or if it has expired or was used here before.
    func redeem(_ text: String, at now: Date) -> OneTimeToken? {
        guard let ticket = OneTimeToken(text), ticket.isGenuine(key: key) else { return nil }
        let left = ticket.expiresAt.timeIntervalSince(now)
        // More is left if the clock was set back. Such a ticket may have been used.
        guard left > 0, left <= Self.oneTimeTokenLifetime + Self.tolerance else { return nil }
        return usedTokens.use(ticket, at: now) ? ticket : nil
    }

    /// Whether a redeemed ticket was made for this holder; nil: for a caller that needs no token.
    func isHeld(_ ticket: OneTimeToken, by holder: TokenDigest?) -> Bool { ticket.isHeld(by: holder, key: key) }

    /// The query parameter `ticket`.
    static func ticket(in head: RequestHead) -> String? {
        let pairs = (head.query ?? "").split(separator: "&")
        return pairs.first { $0.hasPrefix("ticket=") }.map { String($0.dropFirst("ticket=".utf8.count)) }
    }

    /// Seconds.
    static let oneTimeTokenLifetime: TimeInterval = 30
    /// Seconds by which the clocks of two nodes may differ.
    private static let tolerance: TimeInterval = 30
}

/// The cookie of a browser that has signed in (RFC 6265). It names the token that the browser signed in with, and has a code
/// that only the service can make. It does not contain the token's secret.
///
/// The browser does not let scripts read it (`HttpOnly`), and sends it only with requests of pages of the same site
/// (`SameSite=Strict`).
struct SessionCookie: Sendable, Equatable {
    /// The identifier of the token.
    let subject: String
    /// Whole seconds since 1970.
    let expiresAt: Int64
    private let code: String

    static let name = "fetchd_sign_in"

    init(subject: String, expiresAt: Date, digest: TokenDigest, key: [UInt8]) {
        self.subject = subject
        self.expiresAt = Int64(expiresAt.timeIntervalSince1970)
        code = Self.code(subject, self.expiresAt, digest, key)
    }

    /// Reads a value that may come from a stranger: nothing in it is true before `isGenuine` has said so.
    init?(_ value: some StringProtocol) {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let expiresAt = Int64(parts[1]) else { return nil }
        subject = String(parts[0])
        self.expiresAt = expiresAt
        code = String(parts[2])
    }

    /// Whether the service has made the cookie for the present secret of the token, and it has not expired. The rotation of a
    /// token, and another key, end all sign-ins.
    ///
    /// - Parameter digest: of the present secret of the token that the cookie names.
    func isGenuine(digest: TokenDigest, key: [UInt8], now: Date) -> Bool {
        let expected = Self.code(subject, expiresAt, digest, key)
        return MessageAuthentication.isEqual(Array(expected.utf8), Array(code.utf8))
            && now < Date(timeIntervalSince1970: TimeInterval(expiresAt))
    }

    var value: String { "\(subject).\(expiresAt).\(code)" }

    /// The cookie of a request. nil if there is none, or if no service has made it.
    static func of(_ head: RequestHead) -> SessionCookie? {
        guard let cookies = head.headers[.cookie] else { return nil }
        let pairs = cookies.split(separator: ";").map { $0.drop { $0 == " " } }
        guard let pair = pairs.first(where: { $0.hasPrefix(name + "=") }) else { return nil }
        return SessionCookie(pair.dropFirst(name.utf8.count + 1))
    }

    /// A value of `Set-Cookie`.
    ///
    /// - Parameters:
    ///   - maxAge: in seconds; 0 removes the cookie.
    ///   - isSecure: whether the page was loaded over HTTPS. Then the browser never sends the cookie over HTTP.
    static func field(_ value: String, maxAge: Int, isSecure: Bool) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(maxAge); HttpOnly; SameSite=Strict\(isSecure ? "; Secure" : "")"
    }

    private static func code(_ subject: String, _ expiresAt: Int64, _ digest: TokenDigest, _ key: [UInt8]) -> String {
        let message = Array("sign-in \(subject) \(expiresAt) ".utf8) + digest.bytes
        return MessageAuthentication.hmacSHA256(message, key: key).hexadecimal
    }
}

/// `/v1/sign-in` and `/v1/tickets`: how browsers prove their token where a page cannot, or should not, send it.
struct SignInRoutes: Sendable {
    let cookies: SessionCookies
    let time: any TimeSource

    var routes: [Route] {
        [
            Route(.get, "/v1/sign-in", .scope(.read, of: .selection), show),
            Route(.post, "/v1/sign-in", .scope(.read, of: .selection), body: .optional(limit: 4096), signIn),
            // A browser whose token was revoked can still remove its cookie.
            Route(.delete, "/v1/sign-in", .open, signOut),
            Route(.post, "/v1/tickets", .scope(.read, of: .selection), body: .optional(limit: 4096), issueOneTimeToken),
        ]
    }

    private func show(_ context: RequestContext) async throws -> Response {
        let caller = context.caller
        return .json([
            "by": .string(caller.authMethod.rawValue), "token": caller.token.map { .string($0.id.text) } ?? .null,
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
        let cookie = cookies.cookie(for: subject, until: min(expiry, context.caller.token?.expiresAt ?? expiry))
        return Self.settingCookie(
            SessionCookie.field(cookie.value, maxAge: options.lifetime, isSecure: options.isSecure))
    }

    private func signOut(_ context: RequestContext) async throws -> Response {
        Self.settingCookie(SessionCookie.field("", maxAge: 0, isSecure: false))
    }

    private func issueOneTimeToken(_ context: RequestContext) async throws -> Response {
        try context.requireNoOptions()
        let ticket = cookies.ticket(for: context.caller.subject, at: time.now)
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
