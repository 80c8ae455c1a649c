import Downloads

/// Who may use a route.
enum Access: Sendable, Equatable {
    /// Everybody who can connect, without a token.
    case open
    /// Callers with at least this scope, as far as they may see the subject.
    case scope(Scope, of: Subject)

    /// What the response of a route shows or changes. Callers that are bound to sessions see only these.
    enum Subject: Sendable, Equatable, CaseIterable {
        /// The whole service. Callers that are bound to sessions get 403.
        case service
        /// A list, or new jobs. The handler leaves out, or refuses, what the caller may not see.
        case selection
        /// The session that the path names.
        case session
        /// The job that the path names.
        case job
        /// The delivery that the path names.
        case delivery
    }
}
