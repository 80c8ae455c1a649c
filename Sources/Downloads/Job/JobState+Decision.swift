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

    public func deciding(_ signal: JobSignal) -> Decision {
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

    /// For signals that only an attempt can send that has not begun to promote.
    private func attempting(_ decision: () -> Decision) -> Decision {
        switch self {
        case .running(.attempting): decision()
        case .queued, .running(.promoting), .waiting, .paused, .succeeded, .failed, .cancelled:
            .refuse(allowed: [.running])
        }
    }
}
