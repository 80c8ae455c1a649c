import Foundation

/// Applies a decision to the whole job: times, counts, bytes.
extension Job {
    /// The job in its new state.
    public func becoming(_ next: JobState, on signal: JobSignal, at now: Date) -> Job {
        var job = self
        job.state = next
        job.revision += 1
        job.note(signal, at: now)
        if next.isTerminal { job.finishedAt = now }
        if !next.belongsToNode { job.node = nil }
        if next.finish != nil || signal.dropsPart(ofCancelled: next) {
            job.part = nil
            job.isPartLost = false
            job.hasSyncFailed = false
        }
        if signal.failure?.disprovesBytes ?? false { job.dropDisproved(on: signal) }
        job.setClocks(at: now)
        return job
    }

    /// Stops the time limit while the job is paused, and removes it when the job has ended. The expiry of the part
    /// follows the state.
    private mutating func setClocks(at now: Date) {
        switch state {
        case .paused: resourceTime = resourceTime?.stopping(at: now)
        case .queued, .running, .waiting: resourceTime = resourceTime?.running(at: now)
        case .succeeded, .failed, .cancelled: resourceTime = nil
        }
        if let part { self.part?.expiry = part.expiry.after(state, at: now) }
    }

    /// Discards bytes that are known to be wrong. A deferred job continues at the same URL, so its next start must
    /// report the loss. A failed job has reported the loss already, and the next URL is asked for the whole file in any
    /// case.
    private mutating func dropDisproved(on signal: JobSignal) {
        let isDeferred = if case .attemptDeferred = signal { true } else { false }
        part = nil
        isPartLost = isDeferred
        isDisproved = isDeferred
    }

    private mutating func note(_ signal: JobSignal, at now: Date) {
        switch signal {
        case .admitted:
            startedAt = startedAt ?? now
            attempts += 1
            admissions += 1
        case .attemptInterrupted:
            // The download did not cause the interruption, so the attempt does not count.
            attempts = max(0, attempts - 1)
        case .attemptDeferred(let wait) where wait.name == .space || wait.name == .storage || wait.name == .network:
            attempts = max(0, attempts - 1)
        case .attemptDeferred, .attemptFailed:
            failuresInARow += 1
        case .attemptDiverted:
            // The failures of the previous server do not count for the next one. (If a PATCH has replaced the URLs, no
            // mirror may be left: hence `min`.)
            failuresInARow = 0
            isDisproved = false
            mirror = min(mirror + 1, spec.mirrors.count)
        case .retryRequested:
            finishedAt = nil
            startedAt = nil
            attempts = 0
            failuresInARow = 0
            isDisproved = false
            mirror = 0
        case .waitEnded, .pauseRequested, .resumeRequested, .cancelRequested, .helpSupplied, .timeElapsed,
            .attemptStopped, .promotionPlanned, .promoted:
            break
        }
    }
}

extension JobSignal {
    /// The failure that ended the attempt.
    fileprivate var failure: Failure? {
        switch self {
        case .attemptDeferred(let wait), .attemptDiverted(let wait): wait.cause
        case .attemptFailed(let failure): failure
        default: nil
        }
    }

    /// Whether the part of a cancelled job is removed: always, unless the client asked to keep it.
    fileprivate func dropsPart(ofCancelled next: JobState) -> Bool {
        guard next == .cancelled else { return false }
        return switch self {
        case .cancelRequested(let keepsPart), .attemptStopped(.cancel(let keepsPart)): !keepsPart
        default: true
        }
    }
}
