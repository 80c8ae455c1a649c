/// A server demands credentials, and the download waits for them.
public struct AuthenticationChallenge: Sendable, Equatable {
    /// The server's words (RFC 9110, section 11.6.1).
    public struct Demand: Sendable, Equatable, Decodable {
        /// The first scheme that the server names, in lower case, such as `basic`.
        public let scheme: String
        /// What the credentials are for.
        public let realm: String?
    }

    /// Nil if the server did not say how.
    public let demand: Demand?
    /// Whether the download had no credentials, or the server refused them.
    public let message: String
}

/// The answer to a challenge.
public enum ChallengeDisposition: Sendable, Equatable {
    /// The download continues with this credential.
    case useCredential(Credential)
    /// The download keeps waiting. Another client can supply credentials, or a later process gets the challenge again.
    case performDefaultHandling
    /// The download is cancelled. Its bytes are discarded.
    case cancelAuthenticationChallenge
}
