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

    /// At least 32 random bytes, the same for all services of a database. Only its holders can make cookies and tickets.
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
    /// - Returns: nil if no service of the database has made it, or if it has expired or was used here before.
    func redeem(_ text: String, at now: Date) -> OneTimeToken? {
        guard let ticket = OneTimeToken(text), ticket.isGenuine(key: key) else { return nil }
        let left = ticket.expiresAt.timeIntervalSince(now)
        // More is left if the clock was set back. Such a ticket may have been used.
        guard left > 0, left <= Self.oneTimeTokenLifetime + Self.tolerance else { return nil }
        return usedTokens.use(ticket, at: now) ? ticket : nil
    }

    /// Whether a redeemed ticket was made for this holder; nil: for a caller that needs no token.
    func isHeld(_ ticket: OneTimeToken, by holder: TokenDigest?) -> Bool { ticket.isHeld(by: holder, key: key) }

    static func ticket(in head: RequestHead) -> String? {
        let pairs = (head.query ?? "").split(separator: "&")
        return pairs.first { $0.hasPrefix("ticket=") }.map { String($0.dropFirst("ticket=".utf8.count)) }
    }

    /// Seconds.
    static let oneTimeTokenLifetime: TimeInterval = 30
    /// Seconds by which the clocks of two services may differ.
    private static let tolerance: TimeInterval = 30
}

/// The cookie of a browser that has signed in (RFC 6265). It names the token that the browser signed in with, and has a code
/// that only the service can make. It does not contain the token's secret.
///
/// The browser does not let scripts read it (`HttpOnly`), and sends it only with requests of pages of the same site
/// (`SameSite=Strict`).
struct SessionCookie: Sendable, Equatable {
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
    /// - Parameter digest: of the present secret of the token that the cookie names.
    func isGenuine(digest: TokenDigest, key: [UInt8], now: Date) -> Bool {
        let expected = Self.code(subject, expiresAt, digest, key)
        return MessageAuthentication.isEqual(Array(expected.utf8), Array(code.utf8))
            && now < Date(timeIntervalSince1970: TimeInterval(expiresAt))
    }

    var value: String { "\(subject).\(expiresAt).\(code)" }

    static func of(_ head: RequestHead) -> SessionCookie? {
        guard let cookies = head.headers[.cookie] else { return nil }
        let pairs = cookies.split(separator: ";").map { $0.drop { $0 == " " } }
        guard let pair = pairs.first(where: { $0.hasPrefix(name + "=") }) else { return nil }
        return SessionCookie(pair.dropFirst(name.utf8.count + 1))
    }

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
            "sessions": caller.visible.document, "locations": caller.grant.locationsDocument,
            "expires_at": .optional(caller.token?.expiresAt),
        ])
    }

    private func signIn(_ context: RequestContext) async throws -> Response {
        let options = try context.optionalBody { body throws(Problem) in
            (try body.bool("secure"), try body.integer("lifetime_seconds", in: 60...31_536_000).map(Int.init))
        }
        let (isSecure, lifetime) = (options?.0 ?? false, options?.1 ?? Self.defaultLifetime)
        guard let subject = context.caller.subject else {
            throw Problem(
                .stateConflict, "The service needs no token from this address, so there is nothing to sign in with.")
        }
        let expiry = time.now.addingTimeInterval(TimeInterval(lifetime))
        let cookie = cookies.cookie(for: subject, until: min(expiry, context.caller.token?.expiresAt ?? expiry))
        return Self.settingCookie(SessionCookie.field(cookie.value, maxAge: lifetime, isSecure: isSecure))
    }

    /// 30 days, in seconds.
    private static let defaultLifetime = 2_592_000

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

/// Stands for a token in one request, for clients that cannot send `Authorization`: an `EventSource`, or a link to a file.
/// It may end up in a log with its URL, so it soon expires, and `UsedOneTimeTokens` refuses its second use.
///
/// Every service of a database accepts it, because all of them have the key of its code. Nothing in it reveals the token.
struct OneTimeToken: Sendable, Equatable {
    /// The code of its holder (8 bytes), the milliseconds from 1970 to its expiry (6), random bytes (2), and the code of all
    /// these (16).
    let bytes: [UInt8]

    /// - Parameter holder: the digest of the token's secret; nil: a caller that needed no token.
    init(for holder: TokenDigest?, expiresAt: Date, key: [UInt8]) {
        let expiry = withUnsafeBytes(of: expiresAt.milliseconds.bigEndian) { Array($0.suffix(6)) }
        let content = Self.code(of: holder, key) + expiry + [UInt8].random(count: 2)
        bytes = content + Self.code(of: content, key)
    }

    /// Reads a value that may come from a stranger: nothing in it is true before `isGenuine` has said so.
    init?(_ text: some StringProtocol) {
        let digits = text.utf8.compactMap(\.hexadecimalValue)
        guard text.utf8.count == 2 * Self.length, digits.count == text.utf8.count else { return nil }
        bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    var text: String { bytes.hexadecimal }

    var expiresAt: Date { Date(milliseconds: bytes[8..<14].reduce(0) { $0 << 8 | Int64($1) }) }

    func isGenuine(key: [UInt8]) -> Bool {
        let expected = Self.code(of: Array(bytes.prefix(Self.contentLength)), key)
        return MessageAuthentication.isEqual(expected, Array(bytes.dropFirst(Self.contentLength)))
    }

    func isHeld(by holder: TokenDigest?, key: [UInt8]) -> Bool {
        MessageAuthentication.isEqual(Self.code(of: holder, key), Array(bytes.prefix(8)))
    }

    private static func code(of holder: TokenDigest?, _ key: [UInt8]) -> [UInt8] {
        let message = Array("ticket holder ".utf8) + (holder?.bytes ?? [])
        return Array(MessageAuthentication.hmacSHA256(message, key: key).prefix(8))
    }

    private static func code(of content: [UInt8], _ key: [UInt8]) -> [UInt8] {
        Array(MessageAuthentication.hmacSHA256(Array("ticket ".utf8) + content, key: key).prefix(16))
    }

    private static let contentLength = 16
    private static let length = 32
}

/// The tickets that this service has admitted and that have not expired yet: each admits one request.
///
/// They are only in memory. So another service of the same database admits such a ticket once more, and so does this service
/// after a restart.
final class UsedOneTimeTokens: Sendable {
    private struct State {
        var expiries: [[UInt8]: Date] = [:]
        /// The number of tickets at which those that have expired are removed.
        var limit = 1024

        mutating func removeExpired(at now: Date) {
            expiries = expiries.filter { $0.value > now }
            limit = max(1024, 2 * expiries.count)
        }
    }

    private let state = Locked(State())

    /// - Returns: false if the ticket was used before.
    func use(_ ticket: OneTimeToken, at now: Date) -> Bool {
        state.withLock { state in
            if state.expiries.count >= state.limit { state.removeExpired(at: now) }
            return state.expiries.updateValue(ticket.expiresAt, forKey: ticket.bytes) == nil
        }
    }

    var count: Int { state.withLock { $0.expiries.count } }
}
