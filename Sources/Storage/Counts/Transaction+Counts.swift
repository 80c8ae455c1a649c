import Downloads

/// Notes how a change changes the kept counts. The writer writes the counts at the end of the group commit.
extension Transaction {
    /// Every function that inserts, updates or deletes a job or its part calls this.
    ///
    /// - Parameters:
    ///   - before: the job as it was stored; nil for a new job.
    ///   - after: the job as it is stored now; nil for a deleted job.
    func count(_ before: Job?, _ after: Job?) throws {
        let (old, new) = (before.map(JobShare.init), after.map(JobShare.init))
        counts.add(from: old, to: new)
        countHeldBytes(old, new)
        if let before { countBlocked(before, -1) }
        if let after { countBlocked(after, 1) }
        if let after { measure(after, since: before) }
    }

    /// Notes how long a job took that has ended with this change.
    private func measure(_ job: Job, since before: Job?) {
        guard let ending = job.state.ending, let finishedAt = job.finishedAt, before?.state.ending == nil else {
            return
        }
        note(ending, after: finishedAt.timeIntervalSince(job.createdAt))
    }

    /// Changes the number of jobs that wait for help, if the writer knows it and the job is one of them.
    private func countBlocked(_ job: Job, _ change: Int) {
        guard case .waiting(let wait) = job.state, wait.name.needsHelp, let known = working.blockedJobs[job.session]
        else { return }
        working.blockedJobs.note(known + change, for: job.session)
    }

    func count(removed job: JobShare) {
        counts.add(from: job, to: nil)
        working.blockedJobs.forget(job.session)
        countHeldBytes(job, nil)
    }

    func count(removedSession session: Name) {
        counts.removeSession(session)
        working.blockedJobs.forget(session)
        working.heldBytes.forget(session)
    }

    func countDeliveries(_ count: Int = 1, from before: Delivery.State.Name?, to after: Delivery.State.Name?) {
        if let before { counts.service[deliveries: before] -= count }
        if let after { counts.service[deliveries: after] += count }
    }

    /// A batch has finished, or its finish was acknowledged or removed.
    func countFinishes(_ change: Int) { counts.service.unacknowledgedFinishes += change }
}
