import HTTPSemantics

/// What the refusal of a request means, and what the client can do about it.
extension Failure {
    /// - Parameter bytesHad: the bytes that the job had before the request.
    init(refusing response: ResponseFacts, bytesHad: Int64, _ access: RequestAccess) {
        let status = response.status
        if response.isOfProxy, let proxy = access.proxy {
            self.init(proxy, refusing: response)
        } else if status == 401, let challenge = response.challenges.first {
            self.init(
                .credentialsRequired, Self.demand(of: response.challenges, access.authorization), status: status,
                challenge: challenge)
        } else if bytesHad > 0, Self.expiredStatuses.contains(status) {
            self.init(
                .linkExpired, "The link worked before and now answers \(status): it has expired.", status: status)
        } else if access.waitsForURL, Self.expiredStatuses.contains(status) {
            self.init(.linkExpired, "The link answers \(status), as an expired link does.", status: status)
        } else {
            self.init(.badStatus, "The server answered \(status).", status: status)
        }
    }

    /// The answers of servers to links that have expired.
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
