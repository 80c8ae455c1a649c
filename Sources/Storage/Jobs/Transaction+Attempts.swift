import Downloads

extension Transaction {
    func applySignal(_ signal: JobSignal, to id: JobID, _ report: AttemptReport) throws -> SignalOutcome {
        var job = try job(id)
        guard case .running = job.state else { return try transitionJob(job, on: signal) }
        if let planned = report.destination, planned != job.spec.destination { return .stale(job) }
        if let asked = report.asked, !asked.asksLike(job.spec) { return .stale(job) }
        if let part = report.part {
            try save(part, of: id)
            job.part = part
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
        if report.hasSyncFailed || report.hasLostPart, report.part == nil, job.part != nil {
            try removePart(of: id)
            job.part = nil
        }
        if report.hasGained { job.failuresInARow = 0 }
        return try transitionJob(job, on: signal.bounded(at: now))
    }
}

extension Job {
    func isAttempting(_ attempt: Int) -> Bool { state == .running(.attempting) && attempts == attempt }
}
