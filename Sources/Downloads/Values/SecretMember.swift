/// The members of jobs, sessions and webhooks that can hold secrets. fetchd encrypts them in the database.
public enum SecretMember: String, Sendable, Codable, CaseIterable {
    /// The URL or URLs: their users and queries.
    case url
    /// The headers of a job or session whose names suggest a credential, and all headers of a webhook.
    case headers
    case credentials
    /// `body`, `form` or `json`.
    case body
    /// The user and the password of the proxy.
    case proxy
    /// The secret that signs the requests of a webhook.
    case secret
}

extension Set<SecretMember> {
    /// The names in one order: `url, headers`.
    public var listed: String {
        SecretMember.allCases.filter(contains).map(\.rawValue).joined(separator: ", ")
    }
}
