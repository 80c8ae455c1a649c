import Foundation

/// A decision's consequences for the whole job: times, counts, bytes.
extension Job {
    /// The job in its new state.
    public func becoming(_ next: JobState, on signal: JobSignal, at now: Date) -> Job {
        var job = self
        job.state = next
        job.revision += 1
        job.note(signal, at: now)
        if next.isTerminal { job.finishedAt = now }
        if next.finish != nil || signal.dropsPart(ofCancelled: next) {
            job.part = nil
            job.isPartLost = false
            job.hasSyncFailed = false
        }
        if signal.failure?.disprovesBytes ?? false { job.dropDisproved(on: signal) }
        job.setClocks(at: now)
        return job
    }

    /// What a pause stops, and what an end makes meaningless.
    private mutating func setClocks(at now: Date) {
        switch state {
        case .paused: resourceTime = resourceTime?.stopping(at: now)
        case .queued, .running, .waiting: resourceTime = resourceTime?.running(at: now)
        case .succeeded, .failed, .cancelled: resourceTime = nil
        }
        if let part { self.part?.expiry = part.expiry.after(state, at: now) }
    }

    /// A job that goes on at the same address tells at its next beginning that it is not on these bytes. One that failed has
    /// told it already, and another address is asked for everything anyway.
    private mutating func dropDisproved(on signal: JobSignal) {
        let goesOn = if case .attemptDeferred = signal { true } else { false }
        part = nil
        isPartLost = goesOn
        isDisproved = goesOn
    }

    private mutating func note(_ signal: JobSignal, at now: Date) {
        switch signal {
        case .admitted:
            startedAt = startedAt ?? now
            attempts += 1
        case .attemptInterrupted:
            // Not the download's fault: as if it had not been tried.
            attempts = max(0, attempts - 1)
        case .attemptDeferred(let wait) where wait.name == .space || wait.name == .storage || wait.name == .network:
            attempts = max(0, attempts - 1)
        case .attemptDeferred, .attemptFailed:
            failuresInARow += 1
        case .attemptDiverted:
            // Another server: what the one before did does not count. (None is left where the client has named others.)
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
    /// What an attempt ended with.
    fileprivate var failure: Failure? {
        switch self {
        case .attemptDeferred(let wait), .attemptDiverted(let wait): wait.cause
        case .attemptFailed(let failure): failure
        default: nil
        }
    }

    /// Nobody asked to keep what a cancelled job had.
    fileprivate func dropsPart(ofCancelled next: JobState) -> Bool {
        guard next == .cancelled else { return false }
        return switch self {
        case .cancelRequested(let keepsPart), .attemptStopped(.cancel(let keepsPart)): !keepsPart
        default: true
        }
    }
}
