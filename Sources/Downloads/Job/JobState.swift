/// The state of a job; docs/job-lifecycle.md has the diagram. Each state carries the data that only this state needs.
public enum JobState: Sendable, Equatable {
    /// The job waits for a slot, for its first attempt or a further one.
    case queued
    /// An attempt is in progress.
    case running(Step)
    /// The job waits until a time, or for help from the client.
    case waiting(Wait)
    /// A client paused the job. The part is kept.
    case paused
    /// The file is at its destination, durable and verified.
    case succeeded(Finish)
    /// The job failed and does not continue by itself.
    case failed(Failure)
    /// A client cancelled the job.
    case cancelled

    /// The durable half of `phase`. After a restart, fetchd continues a promotion. The other phases (connecting,
    /// transferring, verifying, stopping) are lost, and a new attempt begins.
    public enum Step: Sendable, Equatable {
        case attempting
        case promoting(Promotion)
    }
}

extension JobState {
    /// The state's name in JSON, SQL and docs.
    public enum Name: String, Sendable, CaseIterable {
        case queued, running, waiting, paused, succeeded, failed, cancelled

        /// Whether the job has not ended. A batch is due when none of its jobs is outstanding.
        public var isOutstanding: Bool {
            switch self {
            case .queued, .running, .waiting, .paused: true
            case .succeeded, .failed, .cancelled: false
            }
        }
    }

    public var name: Name {
        switch self {
        case .queued: .queued
        case .running: .running
        case .waiting: .waiting
        case .paused: .paused
        case .succeeded: .succeeded
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }

    public var isOutstanding: Bool { name.isOutstanding }
    public var isTerminal: Bool { !isOutstanding }

    /// Whether the attempt, or the file, is on one node.
    var belongsToNode: Bool {
        switch self {
        case .running, .succeeded: true
        case .queued, .waiting, .paused, .failed, .cancelled: false
        }
    }

    /// How the job ended, for its batch; nil while the job is outstanding.
    public var ending: BatchSignal.Ending? {
        switch self {
        case .queued, .running, .waiting, .paused: nil
        case .succeeded: .succeeded
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }

    public var failure: Failure? { if case .failed(let failure) = self { failure } else { nil } }
    public var finish: Finish? { if case .succeeded(let finish) = self { finish } else { nil } }
    public var wait: Wait? { if case .waiting(let wait) = self { wait } else { nil } }
    public var promotion: Promotion? {
        if case .running(.promoting(let promotion)) = self { promotion } else { nil }
    }
}

extension JobState {
    /// Whether the job has a place in the queue of its session: it does not run and has not ended.
    public var isInQueue: Bool { isOutstanding && name != .running }
}
