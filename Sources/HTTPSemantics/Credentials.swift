/// The user name and password, or the token, for the server. They are secret: fetchd stores them, sends them only to
/// the job's own origin, and never shows them.
public enum Credentials: Sendable, Equatable, Codable {
    case basic(username: String, password: String)
    case digest(username: String, password: String)
    case bearer(token: String)

    /// The name of the scheme in HTTP, in lower case.
    public var scheme: String {
        switch self {
        case .basic: "basic"
        case .digest: "digest"
        case .bearer: "bearer"
        }
    }
}
