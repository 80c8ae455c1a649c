import Foundation

/// The jobs of a session between two `session.finished` events.
public struct Batch: Sendable, Equatable {
    public var session: Name
    /// 1, 2, 3, ... within the session.
    public var number: Int
    public var state: State
    public var counts = Counts()
    /// The number of the batch's first event; nil if none is recorded.
    public var firstEvent: EventID?

    public enum State: Sendable, Equatable {
        /// A job is outstanding, or the batch has not had a job yet.
        case open
        /// All jobs have ended. The batch finishes at that time unless a job joins before.
        case due(Date)
        /// The journal contains the `session.finished` event with that number.
        case finished(EventID)
        /// Every webhook that received the event, or a call of the client, has acknowledged it.
        case acknowledged(EventID)
    }

    /// The deletion of a job does not change the counts.
    public struct Counts: Sendable, Equatable {
        public var outstanding = 0
        public var succeeded = 0
        public var failed = 0
        public var cancelled = 0

        public init(outstanding: Int = 0, succeeded: Int = 0, failed: Int = 0, cancelled: Int = 0) {
            self.outstanding = outstanding
            self.succeeded = succeeded
            self.failed = failed
            self.cancelled = cancelled
        }
    }

    public init(session: Name, number: Int, state: State = .open, counts: Counts = Counts(), firstEvent: EventID? = nil)
    {
        self.session = session
        self.number = number
        self.state = state
        self.counts = counts
        self.firstEvent = firstEvent
    }
}

extension Batch {
    public enum Outcome: String, Sendable, CaseIterable {
        case succeeded
        case partlyFailed = "partly_failed"
        case failed
        /// No job succeeded and no job failed.
        case cancelled
    }

    public var outcome: Outcome {
        switch (counts.succeeded > 0, counts.failed > 0) {
        case (true, false): .succeeded
        case (true, true): .partlyFailed
        case (false, true): .failed
        case (false, false): .cancelled
        }
    }
}

extension Batch.State {
    public enum Name: String, Sendable, CaseIterable {
        case open, due, finished, acknowledged
    }

    public var name: Name {
        switch self {
        case .open: .open
        case .due: .due
        case .finished: .finished
        case .acknowledged: .acknowledged
        }
    }

    /// Whether new and retried jobs can still join the batch.
    public var takesJobs: Bool {
        switch self {
        case .open, .due: true
        case .finished, .acknowledged: false
        }
    }
}
