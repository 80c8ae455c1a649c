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

    /// Whether the job has a place in the queue of its session: it does not run and has not ended.
    public var isInQueue: Bool { isOutstanding && name != .running }
}

/// A signal to the state machine of a job.
public enum JobSignal: Sendable, Equatable {
    /// The scheduler has given the job a slot.
    case admitted
    /// The time at which a waiting job continues by itself has come.
    case waitEnded
    /// A client asked for a pause.
    case pauseRequested
    case resumeRequested
    /// `keepsPart`: the received bytes are kept, so that a retry or another job can resume from them.
    case cancelRequested(keepsPart: Bool)
    case retryRequested
    /// A PATCH of the job, or a PUT of its session, supplied values that jobs wait for.
    case helpSupplied(Set<Help>)
    /// `deadline` or `timeouts.resource_seconds` has passed.
    case timeElapsed(Failure)
    /// An attempt has stopped on request, and its bytes are on disk.
    case attemptStopped(StopReason)
    /// fetchd stopped or died during the attempt.
    case attemptInterrupted
    /// The attempt failed, and another will follow.
    case attemptDeferred(Wait)
    /// The attempt failed permanently, and another one will use the job's next URL.
    case attemptDiverted(Wait)
    /// The attempt failed, and no other will follow.
    case attemptFailed(Failure)
    /// The part is complete and verified, and its destination is decided.
    case promotionPlanned(Promotion)
    /// The part has become the file.
    case promoted

    public enum StopReason: Sendable, Equatable {
        case pause
        case cancel(keepsPart: Bool)
    }

    /// The actions that clients request with `POST /v1/jobs/{id}/...`.
    public enum Action: String, Sendable, CaseIterable {
        case pause, resume, cancel, retry

        /// - Parameter keepsPart: only used for a cancellation.
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
        case refuse(allowed: [JobState.Name])
    }

    public func transition(on signal: JobSignal) -> Decision {
        switch signal {
        case .admitted: admitted()
        case .waitEnded: waitEnded()
        case .pauseRequested: pauseRequested()
        case .resumeRequested: resumeRequested()
        case .cancelRequested(let keepsPart): cancelRequested(keepsPart: keepsPart)
        case .retryRequested: retryRequested()
        case .helpSupplied(let help): helpSupplied(help)
        case .timeElapsed(let failure): timeElapsed(failure)
        case .attemptStopped(.pause): attempting { .become(.paused, announce: .jobPaused, then: [.wakeScheduler]) }
        case .attemptStopped(.cancel):
            attempting { .become(.cancelled, announce: .jobCancelled, then: [.wakeScheduler]) }
        case .attemptInterrupted: attempting { .become(.queued, announce: nil, then: [.wakeScheduler]) }
        case .attemptDeferred(let wait), .attemptDiverted(let wait): attemptDeferred(wait)
        case .attemptFailed(let failure): attemptFailed(failure)
        case .promotionPlanned(let promotion): promotionPlanned(promotion)
        case .promoted: promoted()
        }
    }

    private func admitted() -> Decision {
        switch self {
        case .queued: .become(.running(.attempting), announce: .jobStarted, then: [])
        case .running, .waiting, .paused, .succeeded, .failed, .cancelled: .refuse(allowed: [.queued])
        }
    }

    private func waitEnded() -> Decision {
        switch self {
        case .waiting(let wait) where wait.until != nil:
            .become(.queued, announce: nil, then: [.wakeScheduler])
        case .queued, .running, .waiting, .paused, .succeeded, .failed, .cancelled: .refuse(allowed: [.waiting])
        }
    }

    private func pauseRequested() -> Decision {
        switch self {
        case .queued, .waiting: .become(.paused, announce: .jobPaused, then: [])
        case .running(.attempting): .remain(then: [.stopAttempt(.asked(.pause))])
        case .paused: .remain(then: [])
        case .running(.promoting), .succeeded, .failed, .cancelled:
            .refuse(allowed: [.queued, .running, .waiting, .paused])
        }
    }

    private func resumeRequested() -> Decision {
        switch self {
        case .paused, .waiting: .become(.queued, announce: nil, then: [.wakeScheduler])
        case .queued, .running: .remain(then: [])
        case .succeeded, .failed, .cancelled: .refuse(allowed: [.queued, .running, .waiting, .paused])
        }
    }

    private func cancelRequested(keepsPart: Bool) -> Decision {
        switch self {
        case .queued, .waiting, .paused: .become(.cancelled, announce: .jobCancelled, then: [])
        case .running(.attempting): .remain(then: [.stopAttempt(.asked(.cancel(keepsPart: keepsPart)))])
        case .cancelled: .remain(then: [])
        case .running(.promoting), .succeeded, .failed:
            .refuse(allowed: [.queued, .running, .waiting, .paused, .cancelled])
        }
    }

    private func retryRequested() -> Decision {
        switch self {
        case .failed, .cancelled: .become(.queued, announce: nil, then: [.wakeScheduler])
        case .queued, .running, .waiting: .remain(then: [])
        case .paused, .succeeded: .refuse(allowed: [.queued, .running, .waiting, .failed, .cancelled])
        }
    }

    /// A job that does not wait for this help is patched without a change of its state.
    private func helpSupplied(_ help: Set<Help>) -> Decision {
        switch self {
        case .waiting(let wait) where wait.isEnded(by: help):
            .become(.queued, announce: nil, then: [.wakeScheduler])
        case .queued, .running, .waiting, .paused, .succeeded, .failed, .cancelled: .remain(then: [])
        }
    }

    private func timeElapsed(_ failure: Failure) -> Decision {
        switch self {
        case .queued, .waiting, .paused: .become(.failed(failure), announce: .jobFailed, then: [])
        case .running(.attempting): .remain(then: [.stopAttempt(.overdue(failure))])
        case .running(.promoting), .succeeded, .failed, .cancelled:
            .refuse(allowed: [.queued, .running, .waiting, .paused])
        }
    }

    /// A promotion can be deferred as well, for example if the disk has no room for the name.
    private func attemptDeferred(_ wait: Wait) -> Decision {
        switch self {
        case .running: .become(.waiting(wait), announce: .jobWaiting, then: [.wakeScheduler])
        case .queued, .waiting, .paused, .succeeded, .failed, .cancelled: .refuse(allowed: [.running])
        }
    }

    /// A promotion can fail as well, for example if the destination exists or the disk fails.
    private func attemptFailed(_ failure: Failure) -> Decision {
        switch self {
        case .running: .become(.failed(failure), announce: .jobFailed, then: [.wakeScheduler])
        case .queued, .waiting, .paused, .succeeded, .failed, .cancelled: .refuse(allowed: [.running])
        }
    }

    /// A promotion is planned again if another file took the name between the decision and the rename.
    private func promotionPlanned(_ promotion: Promotion) -> Decision {
        switch self {
        case .running: .become(.running(.promoting(promotion)), announce: nil, then: [])
        case .queued, .waiting, .paused, .succeeded, .failed, .cancelled: .refuse(allowed: [.running])
        }
    }

    private func promoted() -> Decision {
        switch self {
        case .running(.promoting(let promotion)):
            .become(
                .succeeded(Finish(file: promotion.file, receipt: promotion.receipt)), announce: .jobSucceeded,
                then: [.wakeScheduler])
        case .queued, .running(.attempting), .waiting, .paused, .succeeded, .failed, .cancelled:
            .refuse(allowed: [.running])
        }
    }

    /// Allows the signal only while an attempt runs that has not begun to promote.
    private func attempting(_ decision: () -> Decision) -> Decision {
        switch self {
        case .running(.attempting): decision()
        case .queued, .running(.promoting), .waiting, .paused, .succeeded, .failed, .cancelled:
            .refuse(allowed: [.running])
        }
    }
}
