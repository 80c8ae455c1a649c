import Downloads

/// A job with a running attempt, at this moment.
public struct RunningJob: Sendable {
    public var job: JobID
    public var session: Name
    public var live: LiveProgress
}
