/// Servers and proxies that demand credentials.
extension OriginBehaviour {
    /// The body of every 401 and 407.
    public static let refusalPage = Array("Who are you?\n".utf8)

    public static func demandingBasic(_ username: String, _ password: String) -> OriginBehaviour {
        demanding(
            "Authorization", "Basic \(base64("\(username):\(password)"))",
            or: refusal(401, ("WWW-Authenticate", #"Basic realm="test""#)))
    }

    public static func demandingBearer(_ token: String) -> OriginBehaviour {
        demanding("Authorization", "Bearer \(token)", or: refusal(401, ("WWW-Authenticate", "Bearer")))
    }

    /// Basic credentials for a proxy.
    public static func demandingProxyBasic(_ username: String, _ password: String) -> OriginBehaviour {
        demanding(
            "Proxy-Authorization", "Basic \(base64("\(username):\(password)"))",
            or: refusal(407, ("Proxy-Authenticate", #"Basic realm="proxy""#)))
    }

    /// Digest authentication (RFC 7616). `changes` apply to the 401 responses.
    public static func demandingDigest(
        _ digest: OriginDigest, changes: @escaping @Sendable (inout OriginAnswer) -> Void = { _ in }
    ) -> OriginBehaviour {
        OriginBehaviour(spoil: { answer, exchange in
            guard let challenge = digest.challenge(to: exchange.request) else { return }
            answer = refusal(401, ("WWW-Authenticate", challenge))
            changes(&answer)
        })
    }

    private static func demanding(
        _ name: String, _ value: String, or refusal: OriginAnswer
    ) -> OriginBehaviour {
        OriginBehaviour(spoil: { answer, exchange in
            if exchange.request.headers(name) != [value] { answer = refusal }
        })
    }

    private static func refusal(_ status: Int, _ challenge: (name: String, value: String)) -> OriginAnswer {
        OriginAnswer(status: status, headers: [challenge], body: refusalPage)
    }
}
