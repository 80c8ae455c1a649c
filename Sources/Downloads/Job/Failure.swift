import Foundation
import HTTPSemantics

public struct Failure: Error, Sendable, Equatable, Codable {
    public var code: Code
    /// A sentence for people: what happened and, if useful, what to do.
    public var message: String
    public var status: Int?
    /// The number of attempts in the run when the failure occurred.
    public var attempts: Int
    public var at: Date
    /// The challenge of the server or proxy, for `credentials_required` and `proxy_credentials_required`.
    public var challenge: Challenge?

    public init(
        _ code: Code, _ message: String, status: Int? = nil, attempts: Int = 0, at: Date = .distantPast,
        challenge: Challenge? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.attempts = attempts
        self.at = at
        self.challenge = challenge
    }

    /// The stable error codes of the public API.
    public enum Code: String, Sendable, Codable, CaseIterable {
        case badURL = "bad_url"
        case blockedAddress = "blocked_address"
        case nameResolutionFailed = "name_resolution_failed"
        case connectFailed = "connect_failed"
        case connectionLost = "connection_lost"
        case tlsFailed = "tls_failed"
        case timedOut = "timed_out"
        case tooSlow = "too_slow"
        case tooManyRedirects = "too_many_redirects"
        case badStatus = "bad_status"
        case credentialsRequired = "credentials_required"
        case proxyCredentialsRequired = "proxy_credentials_required"
        case linkExpired = "link_expired"
        case truncated
        case sizeMismatch = "size_mismatch"
        case tooLarge = "too_large"
        case checksumMismatch = "checksum_mismatch"
        case checksumUnavailable = "checksum_unavailable"
        case signatureInvalid = "signature_invalid"
        case badRange = "bad_range"
        case destinationExists = "destination_exists"
        case destinationInvalid = "destination_invalid"
        case noSpace = "no_space"
        case storageError = "storage_error"
        case deadlineExceeded = "deadline_exceeded"
    }

    /// Whether the same request may succeed later without any change.
    public var mayPass: Bool {
        switch code {
        case .nameResolutionFailed, .connectFailed, .connectionLost, .timedOut, .tooSlow, .truncated: true
        case .badStatus: status.map(Self.isTemporary) ?? false
        default: false
        }
    }

    /// Whether another URL of the same file may succeed.
    public var isOfSource: Bool {
        let others: Set<Code> = [
            .proxyCredentialsRequired, .noSpace, .storageError, .checksumUnavailable, .signatureInvalid,
        ]
        return dependsOnSpecification && !others.contains(code)
    }

    /// Whether an attempt with other requests, or with another `wait_for`, could have ended in another way.
    public var dependsOnSpecification: Bool {
        ![.destinationExists, .destinationInvalid, .deadlineExceeded].contains(code)
    }

    /// Whether the received bytes are known to be wrong. No attempt may then continue from them.
    public var provesCorruption: Bool { code == .checksumMismatch }

    /// Statuses of temporary failures: request timeout, too early, too many requests, and those of overloaded or
    /// restarted servers and proxies (520 to 524 are Cloudflare's).
    private static let passingStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]

    static func isTemporary(status: Int) -> Bool { passingStatuses.contains(status) }
}

/// What the refusal of a request means, and what the client can do about it.
extension Failure {
    init(refusing response: ResponseFacts, presentBytes: Int64, _ access: RequestAccess) {
        let status = response.status
        if response.isOfProxy, let proxy = access.proxy {
            self.init(proxy, refusing: response)
        } else if status == 401, let challenge = response.challenges.first {
            self.init(
                .credentialsRequired, Self.demand(of: response.challenges, access.authorization), status: status,
                challenge: challenge)
        } else if presentBytes > 0, Self.expiredStatuses.contains(status) {
            self.init(
                .linkExpired, "The link worked before and now answers \(status): it has expired.", status: status)
        } else if access.waitsForURL, Self.expiredStatuses.contains(status) {
            self.init(.linkExpired, "The link answers \(status), as an expired link does.", status: status)
        } else {
            self.init(.badStatus, "The server answered \(status).", status: status)
        }
    }

    private static let expiredStatuses: Set<Int> = [401, 403, 404, 410]

    private init(_ proxy: Proxy, refusing response: ResponseFacts) {
        let (schemes, status) = (response.challenges.map(\.scheme), response.status)
        let message =
            if !schemes.isEmpty, !schemes.contains("basic") {
                "asks for \(Self.list(schemes)) credentials (\(status)). fetchd sends basic ones only."
            } else if proxy.username == nil {
                "asks for credentials (\(status)): set user:password@ in the session's `proxy`."
            } else {
                "refused its credentials (\(status)): correct user:password@ in the session's `proxy`."
            }
        self.init(
            .proxyCredentialsRequired, "The proxy \(proxy.url) \(message)", status: status,
            challenge: response.challenges.first)
    }

    /// The credentials that the server demands, compared with those that it got.
    private static func demand(of challenges: [Challenge], _ sent: RequestAccess.Authorization) -> String {
        let offered = list(challenges.map(\.scheme))
        switch sent {
        case .header: return "The server refused the job's Authorization header (401)."
        case .credentials(let scheme) where challenges.contains { $0.scheme == scheme && $0.isSupported }:
            return "The server refused the job's \(scheme) credentials (401)."
        case .none, .withheld, .credentials: break
        }
        guard challenges.contains(where: \.isSupported) else { return unsupported(challenges) }
        return switch sent {
        case .credentials(let scheme): "The server asks for \(offered) credentials (401); the job has \(scheme) ones."
        case .withheld:
            "The server asks for \(offered) credentials (401). The job was redirected to it, and its own credentials are not sent there."
        case .none, .header: "The server asks for \(offered) credentials (401); the job has none."
        }
    }

    private static func unsupported(_ challenges: [Challenge]) -> String {
        let algorithms = challenges.filter { $0.scheme == "digest" }.compactMap(\.algorithm)
        if !algorithms.isEmpty {
            return
                "The server asks for digest credentials with \(list(algorithms)) (401). fetchd supports MD5 and SHA-256 only."
        }
        return
            "The server asks for \(list(challenges.map(\.scheme))) credentials (401). fetchd supports basic, digest and bearer only."
    }

    /// Each word once.
    private static func list(_ words: [String]) -> String {
        var known: Set<String> = []
        return words.filter { known.insert($0).inserted }.joined(separator: " or ")
    }
}

extension Challenge {
    /// Whether a job's credentials can answer it.
    fileprivate var isSupported: Bool {
        switch scheme {
        case "basic", "bearer": true
        case "digest":
            // RFC 7616, section 3.3: without it, the algorithm is MD5.
            ["md5", "md5-sess", "sha-256", "sha-256-sess"].contains((algorithm ?? "MD5").lowercased())
        default: false
        }
    }
}

/// The facts about a request that decide what a refusal of it means.
public struct RequestAccess: Sendable, Equatable {
    /// What the request had for the server's question who asks.
    public enum Authorization: Sendable, Equatable {
        case none
        /// The job has credentials, but a redirect led to another server, which does not get them.
        case withheld
        /// An `Authorization` header of the job or its session.
        case header
        /// Credentials of the job, by their scheme: `basic`, `digest` or `bearer`.
        case credentials(scheme: String)
    }

    public var authorization: Authorization
    public var waitsForURL: Bool
    public var proxy: Proxy?

    public init(authorization: Authorization = .none, waitsForURL: Bool = false, proxy: Proxy? = nil) {
        self.authorization = authorization
        self.waitsForURL = waitsForURL
        self.proxy = proxy
    }
}
