import Base
import Downloads
import Foundation
import Storage

/// The end of an attempt without a finished file: its signal to the state machine, what is kept of the part, and one commit.
extension Attempt {
    @inline(never)
    func end(after stop: AttemptControl.Stop) -> Step {
        func ending(_ signal: JobSignal, keepsPart: Bool = true) -> Step {
            .store(Ending(signal: signal, keepsPart: keepsPart, result: .stopped))
        }
        switch stop {
        case .decided(.asked(.pause)): return ending(.attemptStopped(.pause))
        case .decided(.asked(.cancel(let keepsPart))):
            return ending(.attemptStopped(.cancel(keepsPart: keepsPart)), keepsPart: keepsPart)
        case .decided(.overdue(var failure)):
            failure.attempts = job.attempts
            return ending(.attemptFailed(failure))
        case .failed(let failure): return fail(failure)
        case .shutdown: return ending(.attemptInterrupted)
        }
    }

    @inline(never)
    func end(after failure: Failure, _ hint: RetryPolicy.Hint) -> Step {
        services.measurements.failures[failure.code].increment()
        let now = services.time.now
        var (failure, hint) = (failure, hint)
        failure.attempts = job.attempts
        failure.at = now
        // The next attempt writes to a new part, so the failure may not recur.
        if file?.part.fault != nil { hint.mayPass = true }
        services.log.info(
            "Attempt \(job.attempts) of \(job.id) ended: \(failure.code.rawValue), \(failure.message)",
            metadata: logFields.merging(["code": "\(failure.code.rawValue)"]) { $1 })
        if failure.code == .storageError, locationFault == nil { services.locations[locationAtFault]?.health.doubt() }
        let failuresInARow = (madeProgress ? 0 : job.failuresInARow) + 1
        let jitter = Double.random(in: 0...1)
        let verdict = spec.retry.decision(
            on: failure, waitsFor: spec.waitFor(after: failure), failuresInARow: failuresInARow, hint: hint, at: now,
            jitter: jitter)
        let nextAttempt = spec.retry.nextAttempt(
            after: failure, failuresInARow: failuresInARow, hint: hint, at: now, jitter: jitter)
        let heldOffUntil = job.timesHeldOff < RetryPolicy.mostTimesHeldOff ? hint.heldOffUntil : nil
        let signal: JobSignal =
            switch (heldOffUntil, verdict) {
            case (let until?, _): .attemptHeldOff(Wait(.retry(until: until), cause: failure))
            case (nil, .wait(let wait)): .attemptDeferred(wait.at(locationAtFault))
            case (nil, .fail(let failure)) where spec.hasMirrorLeft && failure.isOfSource:
                .attemptDiverted(Wait(.retry(until: now), cause: failure))
            case (nil, .fail(let failure)): .attemptFailed(failure)
            }
        let keepsPart = !failure.provesCorruption || state.withLock { !$0.wrongPieces.isEmpty }
        return .store(Ending(signal: signal, keepsPart: keepsPart, nextAttempt: nextAttempt, result: .failed))
    }

    /// One commit ends the attempt: it stores state, offset and event together.
    func store(_ ending: Ending) async -> Step {
        var kept = ending.keepsPart ? await keepPart() : KeptPart()
        for wrong in state.withLock(\.wrongPieces) {
            kept.part?.ranges.remove(contentsOf: wrong)
            kept.part?.lacksWrongPieces = true
        }
        if case .attemptDiverted(let wait) = ending.signal { await suspect(wait.cause) }
        if kept.isRolledBack, services.stop.isMade { services.store.unstored.note() }
        do throws(NotStored) {
            let outcome = try await commit(ending, kept)
            await removeUnneededParts(after: outcome, kept, keepsPart: ending.keepsPart)
        } catch {
            // The database still shows the job as running, and the part is kept for the next start.
        }
        location.leftOversDue.set()
        return .end(ending.result)
    }

    private func commit(_ ending: Ending, _ kept: KeptPart) async throws(NotStored) -> SignalOutcome? {
        var report = AttemptReport(
            admission: job.admissions, part: kept.part, received: control.transferred, madeProgress: madeProgress,
            resume: file?.outcome, hasSyncFailed: kept.isRolledBack, seen: file?.stated, hasLostPart: kept.isForeign)
        let cause = ending.signal.causeInSpecification
        if cause != nil { report.spec = spec }
        var outcome = try await commit(ending.signal, report)
        if let cause, case .stale? = outcome {
            // Meanwhile a client changed the job or its session. The next attempt uses the new values.
            report.spec = nil
            let wait = Wait(.retry(until: ending.nextAttempt ?? services.time.now), cause: cause)
            outcome = try await commit(.attemptDeferred(wait), report)
        }
        if outcome == nil { services.active.remove(self) }
        return outcome
    }

    private func commit(_ signal: JobSignal, _ report: AttemptReport) async throws(NotStored) -> SignalOutcome? {
        try await services.persist("the end of an attempt of \(job.id)") { [services, job] in
            try await services.store.apply(signal, to: job.id, report) { outcome in
                if case .stale = outcome { return }
                services.active.remove(self)
            }
        }
    }

    private func removeUnneededParts(after outcome: SignalOutcome?, _ kept: KeptPart, keepsPart: Bool) async {
        // The end was stored before, and the part can be that of the next attempt.
        if case .superseded? = outcome { return }
        // The part is empty, is not wanted, or the commit has replaced it with a copy.
        let isReplaced = kept.isRolledBack && outcome != nil
        if let part = file?.part, !keepsPart || kept.isForeign || part.durable.isEmpty || isReplaced {
            await services.removeParts([part.id])
        }
        if case .done(_, _, let dropped?)? = outcome { await services.removeParts([dropped]) }
    }
}

extension JobSignal {
    /// The failure, if the job does not try the same again because of it, and would perhaps with another specification;
    /// nil for every other signal.
    fileprivate var causeInSpecification: Failure? {
        switch self {
        case .attemptDiverted(let wait): wait.cause
        case .attemptDeferred(let wait): wait.name.needsInput ? wait.cause : nil
        case .attemptFailed(let failure): failure.dependsOnSpecification ? failure : nil
        case .attemptHeldOff, .admitted, .waitEnded, .pauseRequested, .resumeRequested, .cancelRequested,
            .retryRequested, .inputSupplied, .timeElapsed, .attemptStopped, .attemptInterrupted, .finalizePlanned,
            .finalized:
            nil
        }
    }
}
