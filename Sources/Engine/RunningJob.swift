import Downloads

/// A job with an attempt under way, as it is at this moment.
public struct RunningJob: Sendable {
    public var job: JobID
    public var session: Name
    public var live: LiveProgress
}
