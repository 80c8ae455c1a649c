/// Why fetchd stops a running attempt from outside: a client asked for it, or a time limit has passed.
public enum AttemptStop: Sendable, Equatable {
    case asked(JobSignal.StopReason)
    case overdue(Failure)
}
