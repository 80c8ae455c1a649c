import Downloads
import Foundation
import Metrics
import Storage

/// Runs an attempt up to the commit that ends it: verifies and promotes its part, or derives the job's next state from
/// the failure.
struct AttemptRun: Sendable {
    let services: EngineServices
    let active: ActiveAttempts
    let promoter: Promoter

    func callAsFunction(_ attempt: Attempt) async {
        let watch = Stopwatch()
        let result = await carryOut(attempt)
        services.measurements.attempts[result].record(watch)
    }

    private func carryOut(_ attempt: Attempt) async -> AttemptResult {
        switch await attempt.run() {
        case .whole(let whole): await promote(whole, attempt)
        case .stopped(let stop): await stopped(stop, attempt)
        case .failed(let failure, let hint): await failed(failure, hint, attempt)
        }
    }

    private func promote(_ whole: WholePart, _ attempt: Attempt) async -> AttemptResult {
        attempt.progress.enter(.verifying)
        do {
            let spec = attempt.spec
            let digests = try await whole.file.lane.run {
                try whole.file.digests(spec.algorithms(whole.label), isStopped: { attempt.control.isStopping })
            }
            // A mismatch takes precedence over a stop: bytes that are known to be wrong are not kept.
            let mismatch = digests.flatMap { spec.claims(whole.label).refutation(by: $0) } ?? whole.decoding?.refutation
            if let mismatch {
                return await failed(mismatch, RetryPolicy.Hint(mayBeginAnew: attempt.mayBeginAnew), attempt)
            }
            guard let digests, attempt.control.beginPromotion() else {
                return await stopped(attempt.control.stop ?? .shutdown, attempt)
            }
            attempt.progress.enter(.promoting)
            let order = PromotionOrder(attempt: attempt, whole: whole, digests: digests)
            guard let fault = await promoter.promote(order) else { return .succeeded }
            return await failed(fault, attempt)
        } catch {
            let failure = (error as? DiskError)?.failure ?? Failure(.storageError, "\(error)")
            return await failed(failure, RetryPolicy.Hint(), attempt)
        }
    }

    private func failed(_ fault: DownloadsFolder.PromotionFault, _ attempt: Attempt) async -> AttemptResult {
        // The open file is not the file that would be promoted, so the next attempt begins a new part.
        if fault.isPartLost { attempt.partFile?.fail(DiskError("promote the part", code: ESTALE)) }
        return await failed(fault.failure, RetryPolicy.Hint(), attempt)
    }

    private func stopped(_ stop: AttemptControl.Stop, _ attempt: Attempt) async -> AttemptResult {
        switch stop {
        case .decided(.asked(.pause)): await end(attempt, .attemptStopped(.pause), keepsPart: true)
        case .decided(.asked(.cancel(let keepsPart))):
            await end(attempt, .attemptStopped(.cancel(keepsPart: keepsPart)), keepsPart: keepsPart)
        case .decided(.overdue(let failure)):
            var failure = failure
            failure.attempts = attempt.job.attempts
            await end(attempt, .attemptFailed(failure), keepsPart: true)
        case .failed(let failure): return await failed(failure, RetryPolicy.Hint(), attempt)
        case .shutdown: await end(attempt, .attemptInterrupted, keepsPart: true)
        }
        return .stopped
    }

    private func failed(
        _ failure: Failure, _ hint: RetryPolicy.Hint, _ attempt: Attempt
    ) async -> AttemptResult {
        services.measurements.failures[failure.code].increment()
        let now = services.time.now
        var failure = failure
        failure.attempts = attempt.job.attempts
        failure.at = now
        var hint = hint
        // The next attempt writes to a new part, so the failure may not recur.
        if attempt.partFile?.fault != nil { hint.mayPass = true }
        let before = attempt.hasGained ? 0 : attempt.job.failuresInARow
        let (policy, jitter) = (attempt.spec.retry, Double.random(in: 0...1))
        let verdict = policy.verdict(
            on: failure, waitsFor: attempt.spec.waitFor(after: failure), failuresInARow: before + 1, hint: hint,
            at: now, jitter: jitter)
        let next = policy.nextAttempt(
            after: failure, failuresInARow: before + 1, hint: hint, at: now, jitter: jitter)
        services.log.info(
            "Attempt \(attempt.job.attempts) of \(attempt.job.id) ended: \(failure.code.rawValue), \(failure.message)",
            metadata: attempt.logFields.merging(["code": "\(failure.code.rawValue)"]) { $1 })
        if failure.code == .storageError { services.health.doubt() }
        let keepsPart = !failure.disprovesBytes
        switch verdict {
        case .wait(let wait): await end(attempt, .attemptDeferred(wait), keepsPart: keepsPart, next: next)
        case .fail(let failure) where attempt.spec.hasMirrorLeft && failure.isOfSource:
            let wait = Wait(.retry(until: now), cause: failure)
            await end(attempt, .attemptDiverted(wait), keepsPart: keepsPart, next: next)
        case .fail(let failure): await end(attempt, .attemptFailed(failure), keepsPart: keepsPart, next: next)
        }
        return .failed
    }

    /// One commit ends the attempt: it stores state, offset and event together.
    ///
    /// - Parameter next: when the job tries again if a client has changed it meanwhile; nil: at once.
    private func end(_ attempt: Attempt, _ signal: JobSignal, keepsPart: Bool, next: Date? = nil) async {
        // If the commit fails, the database still shows the job as running, and the part is kept for the next start.
        try? await store(signal, attempt, keepsPart: keepsPart, next: next)
    }

    private func store(
        _ signal: JobSignal, _ attempt: Attempt, keepsPart: Bool, next: Date?
    ) async throws(NotStored) {
        let kept = keepsPart ? await keptPart(of: attempt) : KeptPart()
        if kept.isRolledBack, services.stop.isMade { services.store.unstored.note() }
        var report = AttemptReport(
            admission: attempt.job.admissions, part: kept.part, received: attempt.progress.transferred,
            hasGained: attempt.hasGained, resume: attempt.resume,
            hasSyncFailed: kept.isRolledBack, hasLostPart: kept.isForeign)
        let cause = signal.verdict
        if cause != nil { report.spec = attempt.spec }
        var outcome = try await commit(attempt, signal, report)
        if let cause, case .stale? = outcome {
            // Meanwhile a client changed the job or its session. The next attempt uses the new values.
            report.spec = nil
            let wait = Wait(.retry(until: next ?? services.time.now), cause: cause)
            outcome = try await commit(attempt, .attemptDeferred(wait), report)
        }
        if outcome == nil { active.drop(attempt) }
        // The end was stored before, and the part can be that of the next attempt.
        if case .superseded? = outcome { return }
        // The part is empty, is not wanted, or the commit has replaced it with a copy.
        let isReplaced = kept.isRolledBack && outcome != nil
        if let file = attempt.partFile, !keepsPart || kept.isForeign || file.durable.isEmpty || isReplaced {
            await services.removeParts([file.id])
        }
        if case .done(_, _, let dropped?)? = outcome { await services.removeParts([dropped]) }
    }

    private func commit(
        _ attempt: Attempt, _ signal: JobSignal, _ report: AttemptReport
    ) async throws(NotStored) -> SignalOutcome? {
        let (store, active) = (services.store, active)
        return try await services.persist("the end of an attempt of \(attempt.job.id)") {
            try await store.apply(signal, to: attempt.job.id, report) { outcome in
                if case .stale = outcome { return }
                active.drop(attempt)
            }
        }
    }
}

extension JobSignal {
    /// The failure, if the job does not try the same again because of it, and would perhaps with another specification;
    /// nil for every other signal.
    fileprivate var verdict: Failure? {
        switch self {
        case .attemptDiverted(let wait): wait.cause
        case .attemptDeferred(let wait): wait.name.needsHelp ? wait.cause : nil
        case .attemptFailed(let failure): failure.dependsOnSpecification ? failure : nil
        case .admitted, .waitEnded, .pauseRequested, .resumeRequested, .cancelRequested, .retryRequested, .helpSupplied,
            .timeElapsed, .attemptStopped, .attemptInterrupted, .promotionPlanned, .promoted:
            nil
        }
    }
}
