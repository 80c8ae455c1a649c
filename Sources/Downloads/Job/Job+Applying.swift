import Foundation

/// A decision's consequences for the whole job: times, counts, bytes.
extension Job {
    /// The job in its new state.
    public func becoming(_ next: JobState, on signal: JobSignal, at now: Date) -> Job {
        var job = self
        job.state = next
        job.revision += 1
        job.note(signal, at: now)
        switch next {
        case .failed:
            job.finishedAt = now
        case .succeeded, .cancelled:
            job.finishedAt = now
            job.part = nil
        case .queued, .running, .waiting, .paused: break
        }
        return job
    }

    private mutating func note(_ signal: JobSignal, at now: Date) {
        switch signal {
        case .admitted:
            startedAt = startedAt ?? now
            attempts += 1
        case .attemptInterrupted:
            // Not the download's fault: as if it had not been tried.
            attempts = max(0, attempts - 1)
        case .attemptDeferred(let wait) where wait.name == .space:
            attempts = max(0, attempts - 1)
        case .attemptDeferred, .attemptFailed:
            failuresInARow += 1
        case .retryRequested:
            finishedAt = nil
            startedAt = nil
            attempts = 0
            failuresInARow = 0
        case .waitEnded, .pauseRequested, .resumeRequested, .cancelRequested, .attemptStopped, .promotionPlanned,
            .promoted:
            break
        }
    }
}
