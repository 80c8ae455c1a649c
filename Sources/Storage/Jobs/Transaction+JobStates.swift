import Downloads

extension Transaction {
    /// Applies a signal to each of many jobs that were read in this transaction, with the result that `transitionJob` has
    /// one by one.
    @discardableResult
    func transitionJobs(_ signals: [(job: Job, signal: JobSignal)]) throws -> [SignalOutcome] {
        var writer = TransitionWriter(self, jobsAreFresh: true)
        return try writer.write(signals.map { PreparedTransition($0.job, on: $0.signal, at: now, confidence) })
    }

    /// Writes the state of a job that does not run and has no part, unless the job has changed since it was read.
    ///
    /// - Returns: whether it was written.
    func updateState(from before: Job, to next: Job) throws -> Bool {
        let known = working.jobs[before.id]
        if let known, known != before { return false }
        let next = next.roundedToMilliseconds
        var change = RowChange()
        try change.compare(next, with: before, sealer)
        guard try update("jobs", change, where: "id", is: next.id.text, ofRevision: before.revision) else {
            return false
        }
        try count(before, next)
        forget(next.id)
        // The row may differ from `before` in columns that do not count as a revision.
        if known != nil { working.jobs.note(next, for: next.id) }
        wakeDeadlines(next)
        return true
    }
}
