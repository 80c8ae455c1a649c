import Downloads

/// The result of a signal that was applied to a job.
public enum SignalOutcome: Sendable, Equatable {
    /// The job as it is now, and the effects that the caller carries out. `dropped` is a part whose promise was
    /// removed.
    case done(Job, then: [JobEffect], dropped: PartID? = nil)
    /// The state does not allow the signal.
    case refused(Job, allowed: [JobState.Name])
    /// A client has changed what the signal was based on. Nothing was written.
    case stale(Job)
    /// The attempt that sent the signal has ended, and the job was admitted again. This happens if the answer to the commit that
    /// ended the attempt was lost. Nothing was written.
    case superseded(Job)
    /// The verified file does not fit into the session's `max_total_size`. Nothing was written.
    case excess(Job, SizeLimit)

    public var job: Job {
        switch self {
        case .done(let job, _, _), .refused(let job, _), .stale(let job), .superseded(let job), .excess(let job, _): job
        }
    }
}
