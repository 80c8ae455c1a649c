/// Where a job is moved to, among the jobs of its session and priority that wait for a slot: those that are queued,
/// waiting or paused.
public enum QueuePlace: Sendable, Equatable {
    case top
    case bottom
    case before(JobID)
    case after(JobID)
}
