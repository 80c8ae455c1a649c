import Downloads

/// Selects events of the journal.
public struct EventQuery: Sendable, Hashable {
    /// The last event before the page; nil: the page begins with the first event in the journal.
    public var after: EventID?
    public var session: Name?
    /// Other sessions are not selected.
    public var visible = VisibleSessions.all
    public var job: JobID?
    public var type: EventPattern?
    public var limit: Int

    public init(
        after: EventID? = nil, session: Name? = nil, job: JobID? = nil, type: EventPattern? = nil, limit: Int = 100
    ) {
        self.after = after
        self.session = session
        self.job = job
        self.type = type
        self.limit = limit
    }
}

extension EventQuery {
    /// Whether the event matches, without regard to `after`.
    public func matches(_ event: Event) -> Bool {
        (session == nil || session == event.session) && visible.contain(event.session)
            && (job == nil || job == event.job) && type?.matches(event.type) ?? true
    }
}
