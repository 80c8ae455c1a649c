/// Where a job is in its life; docs/job-lifecycle.md draws it. What only makes sense in one state is carried by that state.
public enum JobState: Sendable, Equatable {
    /// Not begun, or to be begun again: waits for a slot.
    case queued
    /// An attempt is under way.
    case running(Step)
    /// Continues by itself or with the client's help.
    case waiting(Wait)
    /// Somebody paused it; the part is kept.
    case paused
    /// The file is in place, durable, verified.
    case succeeded(Finish)
    /// It will not go on by itself.
    case failed(Failure)
    /// Somebody stopped it.
    case cancelled

    /// The durable half of `phase`: connecting, transferring, verifying and stopping are lost with the process and
    /// begun again, a promotion is carried on.
    public enum Step: Sendable, Equatable {
        case attempting
        case promoting(Promotion)
    }
}

extension JobState {
    /// The state's name in JSON, SQL and docs.
    public enum Name: String, Sendable, CaseIterable {
        case queued, running, waiting, paused, succeeded, failed, cancelled

        /// Owed to the session: a batch is due when none of its jobs is outstanding.
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

    /// How it ended for its batch; nil while it is outstanding.
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
