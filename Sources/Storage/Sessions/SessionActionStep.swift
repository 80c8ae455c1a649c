/// The result of one step of an action on a session.
public struct SessionActionStep: Sendable {
    /// The outcome for each job of this step.
    public var outcomes: [SignalOutcome]
}
