import Downloads

/// What a commit has changed, for those who watch: told on the writer's thread, in commit order, before anybody is told
/// that his change is durable.
public struct Commit: Sendable {
    /// In the order of their numbers, which go on from the commit before.
    public var events: [Event] = []
    /// Jobs of which something is different now, or that are gone.
    public var jobs: Set<JobID> = []

    public init() {}

    public var isEmpty: Bool { events.isEmpty && jobs.isEmpty }

    mutating func add(_ other: Commit) {
        events += other.events
        jobs.formUnion(other.jobs)
    }
}
