import Downloads
import HTTPServer
import HTTPTypes
import Hashing
import Storage

/// Finds the caller of a request by its bearer token (RFC 6750): `FETCHD_TOKEN`, which is an administrator's, or a
/// stored token. On a loopback address, callers without a token are administrators until an administrator has a token.
///
/// It runs for every request, on the network thread: one SHA-256 and one look-up, and no database.
struct Authentication: Sendable {
    private let first: TokenDigest?
    private let firstCaller: Caller
    private let tokens: TokenTable
    private let time: any TimeSource
    /// Whether callers on a loopback address need a token from the start.
    private let alwaysNeedsToken: Bool

    /// - Parameters:
    ///   - token: `FETCHD_TOKEN`; nil: only stored tokens exist.
    ///   - alwaysNeedsToken: set this if others than the users of this machine can send requests from it.
    init(token: String?, tokens: TokenTable, time: any TimeSource, alwaysNeedsToken: Bool = false) {
        first = token.map { TokenDigest(of: $0) }
        firstCaller = Caller(grant: .everything, identity: first?.bytes.prefix(8).hexadecimal ?? "")
        self.tokens = tokens
        self.time = time
        self.alwaysNeedsToken = alwaysNeedsToken
    }

    /// - Throws: 401 with a challenge (RFC 6750, section 3).
    func caller(of head: RequestHead) throws(Problem) -> Caller {
        guard let secret = Self.bearerToken(of: head) else {
            guard isOpen, head.isFromLoopback else { throw .unauthorized("Bearer", Self.advice) }
            return Self.anybody
        }
        let digest = TokenDigest(of: secret)
        if let first, first.isEqual(digest) { return firstCaller }
        return try caller(with: digest)
    }

    private func caller(with digest: TokenDigest) throws(Problem) -> Caller {
        let now = time.now
        guard let match = tokens.use(digest, at: now), match.digest.isEqual(digest) else {
            throw .unauthorized("Bearer error=\"invalid_token\"", "The token is not known. \(Self.advice)")
        }
        let token = match.token
        guard !token.isExpired(at: now) else {
            throw .unauthorized("Bearer error=\"invalid_token\"", "The token \(token.id) has expired. \(Self.advice)")
        }
        return Caller(grant: token.grant, identity: token.id.text, token: token, digest: digest)
    }

    /// Whether no administrator has a token.
    private var isOpen: Bool { first == nil && !alwaysNeedsToken && !tokens.hasAdministrator }

    /// The callers without a token, as long as they need none.
    private static let anybody = Caller(grant: .everything, identity: "anybody")

    private static let advice = "Send a token of the service as Authorization: Bearer TOKEN."

    /// nil without a bearer token. Credentials of another scheme are for somebody else, such as a proxy.
    private static func bearerToken(of head: RequestHead) -> Substring? {
        guard let field = head.headers[.authorization] else { return nil }
        let words = field.split(separator: " ", omittingEmptySubsequences: true)
        guard words.first?.lowercased() == "bearer" else { return nil }
        return words.count == 2 ? words[1] : ""
    }
}

extension RequestHead {
    /// Whether the client is on this machine, or is a proxy on it.
    fileprivate var isFromLoopback: Bool { remoteAddress.hasPrefix("127.") || remoteAddress == "::1" }
}

extension Problem {
    fileprivate static func unauthorized(_ challenge: String, _ detail: String) -> Problem {
        var problem = Problem(.unauthorized, detail)
        problem.headers[.wwwAuthenticate] = challenge
        return problem
    }
}
