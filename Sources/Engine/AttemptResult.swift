/// How an attempt ended, for metrics.
public enum AttemptResult: String, Sendable, CaseIterable {
    case succeeded, failed
    /// A client paused or cancelled the job, its time was over, or fetchd stops.
    case stopped
}
