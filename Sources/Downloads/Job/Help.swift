/// What a client supplies to a job that waits for help.
public enum Help: Sendable, CaseIterable {
    /// Other credentials for the server, or another `Authorization` header.
    case credentials
    /// Another URL of the file.
    case url
    /// Another proxy for the session, or other credentials for it.
    case proxy
}
