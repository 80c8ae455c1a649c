/// Everything that can happen to a job.
public enum JobSignal: Sendable, Equatable {
    /// The scheduler gave it a slot.
    case admitted
    /// What it waited for is over: the delay, the full disk.
    case waitEnded
    /// Somebody asks.
    case pauseRequested
    case resumeRequested
    /// `keepsPart`: what was had so far is kept, to be resumed by a retry or by another job.
    case cancelRequested(keepsPart: Bool)
    case retryRequested
    /// A PATCH brought what jobs wait for.
    case helpSupplied(Set<WaitFor>)
    /// `deadline` or `timeouts.resource_seconds` has passed.
    case timeElapsed(Failure)
    /// An attempt that was asked to stop has stopped; what it had is on disk.
    case attemptStopped(StopReason)
    /// fetchd stopped or died under the attempt.
    case attemptInterrupted
    /// The attempt failed, and another will follow.
    case attemptDeferred(Wait)
    /// The attempt failed for good, and another will ask the next of the job's addresses.
    case attemptDiverted(Wait)
    /// The attempt failed, and none will follow.
    case attemptFailed(Failure)
    /// The part is whole and verified, and its place is decided.
    case promotionPlanned(Promotion)
    /// The part has become the file.
    case promoted

    public enum StopReason: Sendable, Equatable {
        case pause
        case cancel(keepsPart: Bool)
    }
}

extension JobSignal {
    /// What clients ask for by `POST /v1/jobs/{id}/...`.
    public enum Action: String, Sendable, CaseIterable {
        case pause, resume, cancel, retry

        /// - Parameter keepsPart: of a cancellation.
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
