import Downloads

/// Which jobs to list: newest first, from a cursor on.
public struct JobQuery: Sendable {
    public var session: Name?
    public var state: JobState.Name?
    public var tag: String?
    public var limit: Int
    /// The last job of the page before.
    public var before: JobID?

    public init(
        session: Name? = nil, state: JobState.Name? = nil, tag: String? = nil, limit: Int = 100, before: JobID? = nil
    ) {
        self.session = session
        self.state = state
        self.tag = tag
        self.limit = limit
        self.before = before
    }
}
