/// The state of a job; docs/job-lifecycle.md has the diagram. Each state carries the data that only this state needs, behind a
/// reference, because a job is copied often.
public enum JobState: Sendable, Equatable {
    /// The job waits for a slot, for its first attempt or a further one.
    case queued
    case running(Step)
    /// The job waits until a time, or for help from the client.
    indirect case waiting(Wait)
    /// A client paused the job. The part is kept.
    case paused
    /// The file is at its destination, durable and verified.
    indirect case succeeded(JobResult)
    indirect case failed(Failure)
    case cancelled

    /// The durable half of `phase`. After a restart, fetchd continues a promotion. The other phases (connecting,
    /// transferring, verifying, stopping) are lost, and a new attempt begins.
    public enum Step: Sendable, Equatable {
        case attempting
        indirect case promoting(FinalizePlan)
    }

    public enum Kind: String, Sendable, CaseIterable {
        case queued, running, waiting, paused, succeeded, failed, cancelled

        /// Whether the job has not ended. A batch is due when none of its jobs is outstanding.
        public var isOutstanding: Bool {
            switch self {
            case .queued, .running, .waiting, .paused: true
            case .succeeded, .failed, .cancelled: false
            }
        }
    }

    public var name: Kind {
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

    /// Whether one service has the attempt or the file.
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
    public var finish: JobResult? { if case .succeeded(let finish) = self { finish } else { nil } }
    public var wait: Wait? { if case .waiting(let wait) = self { wait } else { nil } }
    public var finalizePlan: FinalizePlan? {
        if case .running(.promoting(let promotion)) = self { promotion } else { nil }
    }

    /// Whether the job has a place in the queue of its session: it does not run and has not ended.
    public var isInQueue: Bool { isOutstanding && name != .running }
}

public enum JobSignal: Sendable, Equatable {
    /// The scheduler has given the job a slot.
    case admitted
    /// The time at which a waiting job continues by itself has come.
    case waitEnded
    case pauseRequested
    case resumeRequested
    /// `keepsPart`: the received bytes are kept, so that a retry or another job can resume from them.
    case cancelRequested(keepsPart: Bool)
    case retryRequested
    /// A PATCH of the job, or a PUT of its session, supplied values that jobs wait for.
    case inputSupplied(Set<RequiredInput>)
    /// `deadline` or `timeouts.resource_seconds` has passed.
    case timeElapsed(Failure)
    /// An attempt has stopped on request, and its bytes are on disk.
    case attemptStopped(StopReason)
    /// fetchd stopped or died during the attempt.
    case attemptInterrupted
    /// The attempt failed, and another will follow.
    case attemptDeferred(Wait)
    /// The host accepts no requests for a time (`HostGate`), and another attempt will follow. This one does not count.
    case attemptHeldOff(Wait)
    /// The attempt failed permanently, and another one will use the job's next URL.
    case attemptDiverted(Wait)
    /// The attempt failed, and no other will follow.
    case attemptFailed(Failure)
    /// The part is complete and verified, and its destination is decided.
    case finalizePlanned(FinalizePlan)
    /// The file is in its place. - object: what the bucket says of it; nil in a folder.
    case finalized(StoredObject?)

    public enum StopReason: Sendable, Equatable {
        case pause
        case cancel(keepsPart: Bool)
    }

    /// Whether the signal makes the attempt of a running job end.
    public var stopsAttempts: Bool {
        switch self {
        case .pauseRequested, .cancelRequested: true
        default: false
        }
    }

    /// The actions that clients request with `POST /v1/jobs/{id}/...`.
    public enum Action: String, Sendable, CaseIterable {
        case pause, resume, cancel, retry

        public func signal(keepsPart: Bool = false) -> JobSignal {
            switch self {
            case .pause: .pauseRequested
            case .resume: .resumeRequested
            case .cancel: .cancelRequested(keepsPart: keepsPart)
            case .retry: .retryRequested
            }
        }
    }
}

/// Why fetchd stops a running attempt from outside: a client asked for it, or a time limit has passed.
public enum AttemptStop: Sendable, Equatable {
    case asked(JobSignal.StopReason)
    case overdue(Failure)
}

/// An effect that is carried out after the decision is committed.
public enum JobEffect: Sendable, Equatable {
    case stopAttempt(AttemptStop)
    case wakeScheduler
}

/// Decides every change of a job's state. A pure function of state and signal.
///
/// Storage commits the decision together with the events. The engine then carries out the effects.
/// docs/job-lifecycle.md contains the table of decisions, and a test compares the table with this code.
extension JobState {
    public enum Decision: Sendable, Equatable {
        /// The job enters another state. `announce` is the event that reports it; nil: no event.
        case become(JobState, announce: EventType?, then: [JobEffect])
        /// Nothing is written. The job already has the requested state, or will have it after the effects.
        case remain(then: [JobEffect])
        /// The state does not allow the signal. `allowed` are the states that do.
        case refuse(allowed: [JobState.Kind])
    }

    public func transition(on signal: JobSignal) -> Decision {
        switch (signal, self) {
        case (.admitted, .queued): .become(.running(.attempting), announce: .jobStarted, then: [])
        case (.waitEnded, .waiting(let wait)) where wait.until != nil: .queueAgain
        case (.pauseRequested, .queued), (.pauseRequested, .waiting):
            .become(.paused, announce: .jobPaused, then: [])
        case (.pauseRequested, .running(.attempting)): .remain(then: [.stopAttempt(.asked(.pause))])
        case (.cancelRequested, .queued), (.cancelRequested, .waiting), (.cancelRequested, .paused):
            .become(.cancelled, announce: .jobCancelled, then: [])
        case (.cancelRequested(let keepsPart), .running(.attempting)):
            .remain(then: [.stopAttempt(.asked(.cancel(keepsPart: keepsPart)))])
        case (.resumeRequested, .waiting), (.resumeRequested, .paused), (.retryRequested, .failed),
            (.retryRequested, .cancelled):
            .queueAgain
        case (.inputSupplied(let input), .waiting(let wait)) where wait.isEnded(by: input): .queueAgain
        case (.timeElapsed(let failure), .queued), (.timeElapsed(let failure), .waiting),
            (.timeElapsed(let failure), .paused):
            .become(.failed(failure), announce: .jobFailed, then: [])
        case (.timeElapsed(let failure), .running(.attempting)): .remain(then: [.stopAttempt(.overdue(failure))])
        case (.attemptStopped(.pause), .running(.attempting)):
            .become(.paused, announce: .jobPaused, then: [.wakeScheduler])
        case (.attemptStopped(.cancel), .running(.attempting)):
            .become(.cancelled, announce: .jobCancelled, then: [.wakeScheduler])
        case (.attemptInterrupted, .running(.attempting)): .queueAgain
        // A promotion can be deferred or fail as well, for example if the disk has no room for the name.
        case (.attemptDeferred(let wait), .running), (.attemptHeldOff(let wait), .running(.attempting)),
            (.attemptDiverted(let wait), .running):
            .become(.waiting(wait), announce: .jobWaiting, then: [.wakeScheduler])
        case (.attemptFailed(let failure), .running):
            .become(.failed(failure), announce: .jobFailed, then: [.wakeScheduler])
        // A promotion is planned again if another file took the name between the decision and the rename.
        case (.finalizePlanned(let promotion), .running):
            .become(.running(.promoting(promotion)), announce: nil, then: [])
        case (.finalized(let object), .running(.promoting(let promotion))):
            .become(.succeeded(promotion.result(object)), announce: .jobSucceeded, then: [.wakeScheduler])
        // A job that does not wait for the supplied help is patched without a change of its state.
        case (.pauseRequested, .paused), (.resumeRequested, .queued), (.resumeRequested, .running),
            (.cancelRequested, .cancelled), (.retryRequested, .queued), (.retryRequested, .running),
            (.retryRequested, .waiting), (.inputSupplied, _):
            .remain(then: [])
        default: .refuse(allowed: signal.allowedStates)
        }
    }
}

extension JobState.Decision {
    fileprivate static let queueAgain = Self.become(.queued, announce: nil, then: [.wakeScheduler])
}

extension JobSignal {
    /// The states that a refusal names. A running job allows a signal only before it promotes its file, or only after.
    fileprivate var allowedStates: [JobState.Kind] {
        switch self {
        case .admitted: [.queued]
        case .waitEnded: [.waiting]
        case .pauseRequested, .resumeRequested, .timeElapsed: [.queued, .running, .waiting, .paused]
        case .cancelRequested: [.queued, .running, .waiting, .paused, .cancelled]
        case .retryRequested: [.queued, .running, .waiting, .failed, .cancelled]
        case .inputSupplied: JobState.Kind.allCases
        case .attemptStopped, .attemptInterrupted, .attemptDeferred, .attemptHeldOff, .attemptDiverted, .attemptFailed,
            .finalizePlanned, .finalized:
            [.running]
        }
    }
}
