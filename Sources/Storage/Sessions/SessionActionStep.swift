import Downloads

/// What came of a signal to some of a session's jobs.
public struct SessionActionStep: Sendable {
    /// What each job became, or was asked to become.
    public var outcomes: [SignalOutcome]
    /// Where the next step goes on; nil when there is none.
    public var next: JobID?
}
