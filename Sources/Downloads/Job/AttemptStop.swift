/// Why an attempt is to stop, from the outside.
public enum AttemptStop: Sendable, Equatable {
    case asked(JobSignal.StopReason)
    case overdue(Failure)
}
