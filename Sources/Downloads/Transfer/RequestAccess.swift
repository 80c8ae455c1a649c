import HTTPSemantics

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
    /// Whether the job waits for another URL when its link has expired.
    public var waitsForURL: Bool
    public var proxy: Proxy?

    public init(authorization: Authorization = .none, waitsForURL: Bool = false, proxy: Proxy? = nil) {
        self.authorization = authorization
        self.waitsForURL = waitsForURL
        self.proxy = proxy
    }
}
