import Foundation

/// The jobs that a session owes between two finishes.
public struct Batch: Sendable, Equatable {
    public var session: Name
    /// 1, 2, 3, ... within the session.
    public var number: Int
    public var state: State
    public var counts = Counts()
    /// The first event of the batch; nil before there is one.
    public var firstEvent: EventID?

    public enum State: Sendable, Equatable {
        /// Some job is outstanding, or none ever was.
        case open
        /// All jobs are done; finished at that time unless another joins before.
        case due(Date)
        /// `session.finished` is in the journal, under that number.
        case finished(EventID)
        /// Every webhook it was addressed to, or the client's call, has taken it from here.
        case acknowledged(EventID)
    }

    /// Survives the deletion of jobs.
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
        /// Nothing succeeded and nothing failed.
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

    /// Whether new and retried jobs still join it.
    public var takesJobs: Bool {
        switch self {
        case .open, .due: true
        case .finished, .acknowledged: false
        }
    }
}
