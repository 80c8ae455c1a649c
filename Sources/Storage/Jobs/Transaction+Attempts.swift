import Downloads
import Foundation

/// Writes the reports of attempts.
extension Transaction {
    func applySignals(
        _ signals: [(job: JobID, signal: JobSignal, report: AttemptReport)]
    ) throws -> [JobID: SignalOutcome] {
        var outcomes: [JobID: SignalOutcome] = [:]
        try prefetch(signals.map(\.job))
        for (job, signal, report) in signals {
            do {
                outcomes[job] = try applySignal(signal, to: job, report)
            } catch StoreError.noSuchJob {
                continue
            }
        }
        return outcomes
    }

    func applySignal(_ signal: JobSignal, to id: JobID, _ report: AttemptReport) throws -> SignalOutcome {
        let stored = try job(id)
        var job = stored
        if let admission = report.admission, admission != job.admissions { return .superseded(job) }
        guard case .running = job.state else { return try transitionJob(job, on: signal) }
        try countReceived(report.received, of: job)
        if let planned = report.destination, planned != job.spec.destination { return .stale(job) }
        if let spec = report.spec, try !spec.endsLike(presentSpec(of: job)) { return .stale(job) }
        if case .promotionPlanned(let promotion) = signal, let limit = try excess(promotion, of: job) {
            return .excess(job, limit)
        }
        if let part = report.part {
            job.replacePart(by: part)
            job.isPartLost = false
            let configuration = try configuration(of: job.session)
            job.part?.expiry.lifetime = configuration.resumeDataTTL ?? SessionConfiguration.defaultResumeDataTTL
        }
        if let resume = report.resume {
            job.resume = resume
            job.isPartLost = false
            job.hasSyncFailed = false
        }
        if report.hasSyncFailed { job.hasSyncFailed = true }
        if report.hasLostPart { job.isPartLost = true }
        if report.hasSyncFailed || report.hasLostPart, report.part == nil { job.part = nil }
        if report.hasGained { job.failuresInARow = 0 }
        let outcome = try transitionJob(job, on: ending(signal, of: job).bounded(at: now))
        let isOver = if case .done(let next, _, _) = outcome { next.state.name != .running } else { false }
        if isOver, working.received[id] != nil { working.received.forget(id) }
        return outcome
    }

    func beginTransfer(of admitted: Job, _ outcome: ResumeOutcome, without dropped: PartID?) throws {
        var job = try job(admitted.id)
        guard job.isAttempting(admitted.admissions) else { return }
        job.resume = outcome
        // The outcome reports the loss. It must not be reported again.
        job.isPartLost = false
        job.hasSyncFailed = false
        switch outcome {
        case .fresh: try save(job)
        case .resumed:
            try save(job)
            try announce(.jobResumed, of: job)
        case .restarted:
            // Parts are compared by identifier, because a checkpoint may have promised the new part already.
            if let part = job.part?.id, part == admitted.part?.id || part == dropped { job.part = nil }
            try save(job)
            try announce(.jobRestarted, of: job)
        }
    }

    func checkpoint(
        _ parts: [(job: JobID, admission: Int, part: Part)], received: [JobID: Int64]
    ) throws {
        try prefetch(parts.map(\.job))
        for (id, admission, part) in parts {
            guard var job = try? job(id), job.isAttempting(admission) else { continue }
            try countReceived(received[id] ?? 0, of: job)
            job.replacePart(by: part)
            job.isPartLost = false
            try save(job)
        }
    }

    func replacePart(_ old: PartID, by copy: Part, of id: JobID, admission: Int) throws -> Bool {
        var job = try job(id)
        guard job.isAttempting(admission) else { return false }
        // The write is repeated after an unknown outcome.
        if job.part?.id == copy.id { return true }
        guard job.part?.id == old else { return false }
        job.replacePart(by: copy)
        try save(job)
        return true
    }

    func recoverInterrupted() throws -> (interrupted: Int, promoting: [AdmittedJob]) {
        // Jobs without a node were admitted by a version that had the database for itself.
        let own = node == nil ? "" : " AND (jobs.node = ? OR jobs.node IS NULL)"
        let running = try jobs(
            JobRow.select + "WHERE jobs.state = 'running'" + own, SQLArguments(node.map { [$0.number] } ?? []))
        let promoting = running.filter { $0.state.promotion != nil }
        for job in running where job.state.promotion == nil { _ = try transitionJob(job, on: .attemptInterrupted) }
        wake(.jobs)
        return (running.count - promoting.count, try promoting.map(admitted))
    }

    func admitted(_ job: Job) throws -> AdmittedJob {
        AdmittedJob(job: job, spec: try presentSpec(of: job))
    }

    /// The specification that an attempt of the job would use now.
    private func presentSpec(of job: Job) throws -> ResolvedSpec {
        ResolvedSpec(job, in: try configuration(of: job.session))
    }
}

extension Job {
    fileprivate func isAttempting(_ admission: Int) -> Bool {
        state == .running(.attempting) && admissions == admission
    }

    /// An attempt does not know the expiry of its part.
    fileprivate mutating func replacePart(by new: Part) {
        let expiry = part?.expiry ?? Part.Expiry()
        part = new
        part?.expiry = expiry
    }
}
