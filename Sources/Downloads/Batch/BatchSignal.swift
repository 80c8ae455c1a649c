import Foundation

/// A signal to the state machine of a batch, which decides when the batch is finished and when it is acknowledged.
public enum BatchSignal: Sendable, Equatable {
    /// A job was created, or retried after another batch.
    case jobJoined
    /// A job of this very batch is retried: its first ending no longer counts.
    case jobRejoined(Ending)
    /// A job became terminal. `due` is when the batch finishes if no other job joins.
    case jobEnded(Ending, due: Date)
    /// The session takes no more jobs: there is nothing left to wait for.
    case sessionInvalidated(at: Date)
    /// The due time has come, and the event has its number.
    case delayElapsed(finish: EventID)
    case finishAcknowledged

    public enum Ending: Sendable, Equatable, CaseIterable {
        case succeeded, failed, cancelled
    }
}
