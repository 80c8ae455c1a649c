import Downloads
import HTTPServer
import HTTPTypes
import Hashing
import Storage

/// Finds the caller of a request by its bearer token (RFC 6750): `FETCHD_TOKEN`, which is an administrator's, or a
/// stored token. A cookie or a ticket stands for a token that the service has seen before. On a loopback address, callers
/// without a token are administrators until an administrator has a token.
///
/// It runs for every request, on the network thread: one SHA-256 and one look-up, and no database.
struct Authentication: Sendable {
    private let first: TokenDigest?
    private let firstCaller: Caller
    private let tokens: TokenTable
    private let time: any TimeSource
    /// Whether callers on a loopback address need a token from the start.
    private let alwaysNeedsToken: Bool
    private let signIns: SignIns

    /// - Parameters:
    ///   - token: `FETCHD_TOKEN`; nil: only stored tokens exist.
    ///   - alwaysNeedsToken: set this if others than the users of this machine can send requests from it.
    init(
        token: String?, tokens: TokenTable, signIns: SignIns, time: any TimeSource, alwaysNeedsToken: Bool = false
    ) {
        first = token.map { TokenDigest(of: $0) }
        firstCaller = Caller(
            grant: .everything, identity: first?.bytes.prefix(8).hexadecimal ?? "", proof: .token,
            subject: first.map { SignIns.Subject(name: Self.firstName, digest: $0) })
        self.signIns = signIns
        self.tokens = tokens
        self.time = time
        self.alwaysNeedsToken = alwaysNeedsToken
    }

    /// - Parameter takesTicket: whether the route accepts a ticket in its query.
    /// - Throws: 401 with a challenge (RFC 6750, section 3).
    func caller(of head: RequestHead, takesTicket: Bool = false) throws(Problem) -> Caller {
        if let secret = Self.bearerToken(of: head) { return try caller(with: TokenDigest(of: secret)) }
        if takesTicket, let ticket = SignIns.ticket(in: head), let holder = try self.holder(of: ticket) {
            return try caller(with: holder).shown(by: .ticket)
        }
        if let cookie = SignInCookie.of(head), head.mayUseCookie, let subject = self.subject(of: cookie) {
            return try caller(with: subject.digest).shown(by: .cookie)
        }
        guard isOpen, head.isFromThisMachine, !head.isFromSharedOrigin else {
            throw .unauthorized("Bearer", Self.advice)
        }
        return Self.anybody
    }

    /// The caller of one call in a request.
    ///
    /// - Parameter secret: the token that the call has; nil: the request itself says who its caller is.
    /// - Throws: 401.
    func caller(of head: RequestHead, secret: String?) throws(Problem) -> Caller {
        // Clients that have no secret set up may send an empty one.
        guard let secret, !secret.isEmpty else { return try caller(of: head) }
        return try caller(with: TokenDigest(of: secret))
    }

    /// The digest of the secret for which the ticket was made; nil if its caller needed no token.
    private func holder(of text: String) throws(Problem) -> TokenDigest? {
        if let ticket = signIns.redeem(text, at: time.now) {
            if signIns.isHeld(ticket, by: nil) { return nil }
            if let first, signIns.isHeld(ticket, by: first) { return first }
            if let digest = tokens.digest(where: { signIns.isHeld(ticket, by: $0) }) { return digest }
        }
        throw .unauthorized(
            "Bearer error=\"invalid_token\"", "The ticket is not known, was used before, or has expired.")
    }

    /// nil if the service has not made the cookie for a present secret of a token.
    private func subject(of cookie: SignInCookie) -> SignIns.Subject? {
        let now = time.now
        let digests =
            cookie.subject == Self.firstName
            ? [first].compactMap(\.self) : tokens.digests(of: TokenID(cookie.subject), at: now)
        let digest = digests.first { signIns.isGenuine(cookie, digest: $0, now: now) }
        return digest.map { SignIns.Subject(name: cookie.subject, digest: $0) }
    }

    private func caller(with digest: TokenDigest) throws(Problem) -> Caller {
        if let first, first.isEqual(digest) { return firstCaller }
        let now = time.now
        guard let match = tokens.use(digest, at: now), match.digest.isEqual(digest) else {
            throw .unauthorized("Bearer error=\"invalid_token\"", "The token is not known. \(Self.advice)")
        }
        let token = match.token
        guard !token.isExpired(at: now) else {
            throw .unauthorized("Bearer error=\"invalid_token\"", "The token \(token.id) has expired. \(Self.advice)")
        }
        return Caller(
            grant: token.grant, identity: token.id.text, token: token, digest: digest, proof: .token,
            subject: SignIns.Subject(name: token.id.text, digest: digest))
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
        var problem = Problem(.unauthorized, detail)
        problem.headers[.wwwAuthenticate] = challenge
        return problem
    }
}
