import Downloads

/// The result of one step of an action on a session.
public struct SessionActionStep: Sendable {
    /// The outcome for each job of this step.
    public var outcomes: [SignalOutcome]
    /// The `after` of the next step; nil at the end.
    public var next: JobID?
}
