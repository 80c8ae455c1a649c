import Base
import Downloads
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Storage

/// Finds the caller of a request by its bearer token (RFC 6750): `FETCHD_TOKEN`, which is an administrator's, or a
/// stored token. A cookie or a ticket stands for a token that the service has seen before. On a loopback address, callers
/// without a token are administrators until an administrator has a token.
///
/// It runs once for every request, on the network thread: one SHA-256 and one look-up, and no database.
struct Authentication: Sendable {
    private let first: TokenDigest?
    private let firstCaller: Caller
    private let tokens: TokenTable
    private let time: any TimeSource
    /// Whether callers on a loopback address need a token from the start.
    private let alwaysNeedsToken: Bool
    private let cookies: SessionCookies

    /// - Parameters:
    ///   - token: `FETCHD_TOKEN`; nil: only stored tokens exist.
    ///   - alwaysNeedsToken: set this if others than the users of this machine can send requests from it.
    init(
        token: String?, tokens: TokenTable, cookies: SessionCookies, time: any TimeSource,
        alwaysNeedsToken: Bool = false
    ) {
        first = token.map { TokenDigest(of: $0) }
        firstCaller = Caller(
            grant: .everything, identity: first?.bytes.prefix(8).hexadecimal ?? "", authMethod: .token,
            subject: first.map { SessionCookies.Subject(name: Self.firstName, digest: $0) })
        self.cookies = cookies
        self.tokens = tokens
        self.time = time
        self.alwaysNeedsToken = alwaysNeedsToken
    }

    /// - Parameter takesOneTimeToken: whether the route accepts a ticket in its query.
    /// - Throws: 401 with a challenge (RFC 6750, section 3).
    func caller(of head: RequestHead, takesOneTimeToken: Bool = false) throws(Problem) -> Caller {
        if let secret = Self.bearerToken(of: head) { return try caller(with: TokenDigest(of: secret)) }
        if takesOneTimeToken, let ticket = SessionCookies.ticket(in: head), let holder = try self.holder(of: ticket) {
            return try caller(with: holder).authenticated(by: .ticket)
        }
        if let cookie = SessionCookie.of(head), head.mayUseCookie, let subject = self.subject(of: cookie) {
            return try caller(with: subject.digest).authenticated(by: .cookie)
        }
        guard isOpen, head.isFromThisMachine, !head.isFromSharedOrigin else {
            throw .unauthorized("Bearer", Self.advice)
        }
        return Self.anybody
    }

    /// The caller of one call in a request.
    /// - Parameter secret: the token that the call has; nil: the request itself says who its caller is.
    /// - Throws: 401.
    func caller(of head: RequestHead, secret: String?) throws(Problem) -> Caller {
        // Clients that have no secret set up may send an empty one.
        guard let secret, !secret.isEmpty else { return try caller(of: head) }
        return try caller(with: TokenDigest(of: secret))
    }

    /// The digest of the secret for which the ticket was made; nil if its caller needed no token.
    private func holder(of text: String) throws(Problem) -> TokenDigest? {
        if let ticket = cookies.redeem(text, at: time.now) {
            if cookies.isHeld(ticket, by: nil) { return nil }
            if let first, cookies.isHeld(ticket, by: first) { return first }
            if let digest = tokens.digest(where: { cookies.isHeld(ticket, by: $0) }) { return digest }
        }
        throw .unauthorized(
            "Bearer error=\"invalid_token\"", "The ticket is not known, was used before, or has expired.")
    }

    /// nil if the service has not made the cookie for a present secret of a token.
    private func subject(of cookie: SessionCookie) -> SessionCookies.Subject? {
        let now = time.now
        let digests =
            cookie.subject == Self.firstName
            ? [first].compactMap(\.self) : tokens.digests(of: TokenID(cookie.subject), at: now)
        let digest = digests.first { cookies.isGenuine(cookie, digest: $0, now: now) }
        return digest.map { SessionCookies.Subject(name: cookie.subject, digest: $0) }
    }

    private func caller(with digest: TokenDigest) throws(Problem) -> Caller {
        if let first, first.isEqual(digest) { return firstCaller }
        let now = time.now
        let match = try valid(tokens.use(digest, at: now), digest, at: now)
        let token = match.token
        return Caller(
            grant: token.grant, identity: token.id.text, token: token, digest: digest, authMethod: .token,
            subject: SessionCookies.Subject(name: token.id.text, digest: digest))
    }

    /// Checks again a caller that was authenticated before, without its secret: a token can be revoked while a body is received,
    /// or a stream is sent.
    /// - Throws: 401 as `caller(of:)`.
    func confirm(_ caller: Caller) throws(Problem) {
        if let digest = caller.digest {
            let now = time.now
            _ = try valid(tokens.match(digest, at: now), digest, at: now)
        } else if caller === Self.anybody, !isOpen {
            throw .unauthorized("Bearer", Self.advice)
        }
    }

    private func valid(
        _ match: TokenTable.Match?, _ digest: TokenDigest, at now: Date
    ) throws(Problem) -> TokenTable.Match {
        guard let match, match.digest.isEqual(digest) else {
            throw .unauthorized("Bearer error=\"invalid_token\"", "The token is not known. \(Self.advice)")
        }
        guard !match.token.isExpired(at: now) else {
            throw .unauthorized(
                "Bearer error=\"invalid_token\"", "The token \(match.token.id) has expired. \(Self.advice)")
        }
        return match
    }

    /// Whether no administrator has a token.
    private var isOpen: Bool { first == nil && !alwaysNeedsToken && !tokens.hasAdministrator }

    /// The callers without a token, as long as they need none.
    private static let anybody = Caller(grant: .everything, identity: "anybody")

    /// The name of `FETCHD_TOKEN` in a cookie.
    private static let firstName = "service"

    private static let advice = "Send a token of the service as Authorization: Bearer TOKEN."

    /// nil without a bearer token. Credentials of another scheme are not for fetchd but for a proxy in front of it.
    private static func bearerToken(of head: RequestHead) -> Substring? {
        guard let field = head.headers[.authorization] else { return nil }
        let words = field.split(separator: " ", omittingEmptySubsequences: true)
        guard words.first?.lowercased() == "bearer" else { return nil }
        return words.count == 2 ? words[1] : ""
    }
}

extension RequestHead {
    /// Whether a browser sends the request for a page whose origin says little about its author: an extension, or a file
    /// (`null`). Such a page needs a token even where other callers need none.
    fileprivate var isFromSharedOrigin: Bool {
        guard let origin = headers[.origin] else { return false }
        return !origin.lowercased().hasPrefix("http://") && !origin.lowercased().hasPrefix("https://")
    }

    /// Whether a cookie may stand for a token in this request. A browser sends its cookies by itself, so a request that
    /// changes something needs a field that says which page has sent it. `OriginRule` has refused foreign pages already.
    fileprivate var mayUseCookie: Bool {
        [.get, .head].contains(method) || headers[.origin] != nil || headers[.secFetchSite] != nil
    }
}

extension Problem {
    fileprivate static func unauthorized(_ challenge: String, _ detail: String) -> Problem {
        Problem(.unauthorized, detail, headers: [.wwwAuthenticate: challenge])
    }
}

/// The secret of a token: `fetchd_` and the base64url of 32 random bytes. The beginning makes a leaked secret easy to
/// find.
struct TokenSecret: Sendable {
    let text: String

    static func random() -> TokenSecret {
        let base64 = Data([UInt8].random(count: 32)).base64EncodedString()
        let encoded = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return TokenSecret(text: beginning + encoded)
    }

    var digest: TokenDigest { TokenDigest(of: text) }

    private static let beginning = "fetchd_"
}

extension TokenDigest {
    init(of secret: some StringProtocol) { self.init(HashFunction.sha256.hash(Array(secret.utf8))) }

    /// All digests have one length, so the time of the comparison reveals nothing.
    func isEqual(_ other: TokenDigest) -> Bool { MessageAuthentication.isEqual(bytes, other.bytes) }
}

/// Limits the requests of tokens that have such a quota. It is not stored: after a restart, every bucket is full.
final class RequestRates: Sendable {
    private let buckets = Locked<[TokenID: TokenBucket]>([:])
    private let time: any TimeSource

    init(time: any TimeSource) { self.time = time }

    /// - Throws: 429.
    func check(_ caller: Caller) throws(Problem) {
        guard let token = caller.token, let limit = token.quotas.requestsPerSecond else { return }
        let now = time.uptime
        let wait = buckets.withLock { buckets in
            // Tokens that were revoked leave their buckets behind.
            if buckets.count >= Self.mostBuckets { buckets.removeAll() }
            return buckets[token.id, default: TokenBucket(limit: limit, at: now)].take(limit: limit, at: now)
        }
        if let wait { throw Problem(.requestsPerSecond(limit: limit, seconds: wait)) }
    }

    private static let mostBuckets = 10_000
}

/// The requests that a token may still send: it holds those of one second at most, and fills steadily.
struct TokenBucket: Sendable {
    private var left: Double
    private var filledAt: Duration

    /// - Parameter uptime: the present time of a clock that never jumps.
    init(limit: Int, at uptime: Duration) {
        left = Double(limit)
        filledAt = uptime
    }

    /// - Returns: nil if the request is allowed; else the seconds until the next one is.
    mutating func take(limit: Int, at uptime: Duration) -> Double? {
        let gained = max(0, (uptime - filledAt) / .seconds(1)) * Double(limit)
        left = min(Double(limit), left + gained)
        filledAt = uptime
        guard left < 1 else {
            left -= 1
            return nil
        }
        return (1 - left) / Double(limit)
    }
}
