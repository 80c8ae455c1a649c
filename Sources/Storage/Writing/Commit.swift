import Downloads

/// The changes of one commit. Observers receive it on the writer's thread, in commit order, before any caller's write
/// returns.
public struct Commit: Sendable {
    /// In the order of their identifiers, which continue those of the previous commit.
    public var events: [Event] = []
    /// Jobs that the commit has changed or deleted.
    public var jobs: Set<JobID> = []
    /// Whether any other job may have changed, too: another node has not said which, or its notice was lost.
    public var hasAnyJob = false
    /// Jobs that have ended, with the seconds since their creation.
    var endings: [(ending: BatchSignal.Ending, seconds: Double)] = []

    public init() {}

    public var isEmpty: Bool { events.isEmpty && jobs.isEmpty && !hasAnyJob }

    mutating func add(_ other: Commit) {
        events += other.events
        jobs.formUnion(other.jobs)
        hasAnyJob = hasAnyJob || other.hasAnyJob
        endings += other.endings
    }
}
