/// All downloads of a batch have ended. A batch contains the jobs of a session between two finishes.
public struct FinishedBatch: Sendable, Equatable {
    public enum Outcome: String, Sendable, Decodable {
        case succeeded, failed, cancelled
        case partlyFailed = "partly_failed"
    }

    public struct Counts: Sendable, Equatable, Decodable {
        public let succeeded: Int
        public let failed: Int
        public let cancelled: Int
    }

    /// The number of the event `session.finished`: the position to acknowledge.
    public let event: Int64
    /// The number of the batch within its session, from 1.
    public let number: Int
    public let outcome: Outcome
    public let counts: Counts
}

/// The data of `session.finished`.
struct FinishDocument: Decodable {
    let batch: Int
    let outcome: FinishedBatch.Outcome
    let counts: FinishedBatch.Counts
}
