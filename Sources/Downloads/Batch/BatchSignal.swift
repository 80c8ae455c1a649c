import Foundation

/// A signal to the state machine of a batch, which decides when the batch is finished and when it is acknowledged.
public enum BatchSignal: Sendable, Equatable {
    /// A job was created, or a job of an earlier batch was retried.
    case jobJoined
    /// A job of this batch is retried. Its previous ending no longer counts.
    case jobRejoined(Ending)
    /// A job became terminal. `due` is when the batch finishes if no other job joins.
    case jobEnded(Ending, due: Date)
    /// The session accepts no more jobs, so the batch need not wait for any.
    case sessionInvalidated(at: Date)
    /// The due time has come. `finish` is the number of the `session.finished` event.
    case delayElapsed(finish: EventID)
    case finishAcknowledged

    public enum Ending: Sendable, Equatable, CaseIterable {
        case succeeded, failed, cancelled
    }
}
