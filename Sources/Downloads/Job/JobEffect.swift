/// An effect that is carried out after the decision is committed.
public enum JobEffect: Sendable, Equatable {
    case stopAttempt(AttemptStop)
    case wakeScheduler
}
