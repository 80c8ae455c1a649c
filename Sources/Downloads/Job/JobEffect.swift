/// What is to be done by somebody else than the sender of the signal, once the decision is committed.
public enum JobEffect: Sendable, Equatable {
    case stopAttempt(AttemptStop)
    case wakeScheduler
}
