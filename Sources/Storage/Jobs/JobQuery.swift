import Downloads

/// Selects jobs, newest first, after a cursor.
public struct JobQuery: Sendable {
    public var session: Name?
    /// Jobs of other sessions are not selected.
    public var visible = VisibleSessions.all
    public var state: JobState.Name?
    public var tag: String?
    public var limit: Int
    /// The last job of the previous page.
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
