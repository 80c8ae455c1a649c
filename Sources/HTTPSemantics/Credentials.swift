/// The user name and password, or the token, for the server. Secret: stored, sent to the job's own origin, never shown.
public enum Credentials: Sendable, Equatable, Codable {
    case basic(username: String, password: String)
    case digest(username: String, password: String)
    case bearer(token: String)
}
