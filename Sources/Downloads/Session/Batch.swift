import Formats
import Foundation

/// The jobs of a session between two `session.finished` events.
public struct Batch: Sendable, Equatable {
    public var session: Name
    /// 1, 2, 3, ... within the session.
    public var number: Int
    public var state: State
    public var counts = Counts()
    /// The lists that are being imported into the batch. It does not become due before their ends.
    public var imports = 0
    /// The number of the batch's first event; nil if none is recorded.
    public var firstEvent: EventID?

    public enum State: Sendable, Equatable {
        /// A job is outstanding, a list is being imported, or the batch has not had a job yet.
        case open
        /// All jobs and all imports have ended. The batch finishes at that time unless a job joins before.
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
    public enum Kind: String, Sendable, CaseIterable {
        case open, due, finished, acknowledged
    }

    public var name: Kind {
        switch self {
        case .open: .open
        case .due: .due
        case .finished: .finished
        case .acknowledged: .acknowledged
        }
    }

    /// Whether new and retried jobs can still join the batch.
    var takesJobs: Bool {
        switch self {
        case .open, .due: true
        case .finished, .acknowledged: false
        }
    }
}

/// A signal to the state machine of a batch, which decides when the batch is finished and when it is acknowledged.
public enum BatchSignal: Sendable, Equatable {
    /// A job was created, or a job of an earlier batch was retried.
    case jobJoined
    /// A job of this batch is retried. Its previous ending no longer counts.
    case jobRejoined(Ending)
    /// A job became terminal. `due` is when the batch finishes if no other job joins.
    case jobEnded(Ending, due: Date)
    /// The first jobs of a list have joined, and more of them follow.
    case importBegan
    /// The list is complete, or its import was interrupted. `due` as above.
    case importEnded(due: Date)
    /// The session accepts no more jobs, so the batch need not wait for any.
    case sessionInvalidated(at: Date)
    /// The due time has come. `finish` is the number of the `session.finished` event.
    case delayElapsed(finish: EventID)
    case finishAcknowledged

    public enum Ending: Sendable, Equatable, CaseIterable {
        case succeeded, failed, cancelled
    }
}

extension Batch {
    /// The batch after a signal; nil if the signal has no effect in this state.
    public func transition(on signal: BatchSignal) -> Batch? {
        var batch = self
        switch (signal, state) {
        case (.jobJoined, .open), (.jobJoined, .due): batch.join()
        case (.jobRejoined(let ending), _) where state.takesJobs && counts[ending] > 0:
            batch.counts[ending] -= 1
            batch.join()
        case (.jobEnded(let ending, let due), .open) where counts.outstanding > 0:
            batch.counts.outstanding -= 1
            batch.counts[ending] += 1
            batch.becomeDue(at: due)
        case (.importBegan, .open), (.importBegan, .due):
            batch.state = .open
            batch.imports += 1
        case (.importEnded(let due), .open) where imports > 0:
            batch.imports -= 1
            batch.becomeDue(at: due)
        case (.sessionInvalidated(let now), .due(let due)) where due > now: batch.state = .due(now)
        case (.delayElapsed(let finish), .due): batch.state = .finished(finish)
        case (.finishAcknowledged, .finished(let finish)): batch.state = .acknowledged(finish)
        default: return nil
        }
        return batch
    }

    private mutating func becomeDue(at time: Date) {
        if counts.outstanding == 0, imports == 0 { state = .due(time) }
    }

    private mutating func join() {
        state = .open
        counts.outstanding += 1
    }
}

extension Batch.Counts {
    public subscript(ending: BatchSignal.Ending) -> Int {
        get {
            switch ending {
            case .succeeded: succeeded
            case .failed: failed
            case .cancelled: cancelled
            }
        }
        set {
            switch ending {
            case .succeeded: succeeded = newValue
            case .failed: failed = newValue
            case .cancelled: cancelled = newValue
            }
        }
    }
}

extension Batch {
    /// The maximum number of failures in the event. The journal contains the others, between the first and last event
    /// of the batch.
    public static let mostFailures = 100

    public func announcement(lastEvent: EventID, failures: [(JobID, Failure?)]) -> JSONObject {
        [
            "batch": .count(number), "outcome": .string(outcome.rawValue),
            "counts": [
                "succeeded": .count(counts.succeeded), "failed": .count(counts.failed),
                "cancelled": .count(counts.cancelled),
            ],
            "first_event": .optional(firstEvent), "last_event": .integer(lastEvent),
            "failures": .array(
                failures.map { job, failure in
                    [
                        "job": .string(job.text), "code": .optional(failure?.code.rawValue),
                        "message": .optional(failure?.message), "status": .optional(failure?.status),
                    ]
                }),
        ]
    }
}
