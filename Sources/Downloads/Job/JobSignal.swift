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
}

extension JobSignal {
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
