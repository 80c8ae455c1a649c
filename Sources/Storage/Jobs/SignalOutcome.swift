import Downloads

/// What came of a signal that was sent to a job.
public enum SignalOutcome: Sendable, Equatable {
    /// The job as it is now, and what is to be done about it. `dropped` is a part that is promised no longer.
    case done(Job, then: [JobEffect], dropped: PartID? = nil)
    /// The state does not allow it.
    case refused(Job, allowed: [JobState.Name])
    /// The client has changed what the signal was based upon.
    case stale(Job)

    public var job: Job {
        switch self {
        case .done(let job, _, _), .refused(let job, _), .stale(let job): job
        }
    }
}
