/// Who asks, as the server is told. Secret: stored, sent to the job's own origin, and never shown again.
public enum Credentials: Sendable, Equatable, Codable {
    case basic(username: String, password: String)
    case digest(username: String, password: String)
    case bearer(token: String)
}
