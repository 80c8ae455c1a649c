import Downloads
import GRDB

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
        let failure = next.state.failure ?? next.state.wait?.cause
        try run(
            """
            UPDATE jobs SET state = ?, revision = ?, reason = ?, retry_at = ?, failure = ?, finished_at = ?,
                fails_at = ?, resource_until = ?, resource_left = ?, part_lost = ?, sync_failed = ?
            WHERE id = ? AND revision = ?
            """,
            [
                next.state.name.rawValue, next.revision, next.state.wait?.name.rawValue,
                next.state.wait?.until?.milliseconds, try failure.map(Stored.text), next.finishedAt?.milliseconds,
                next.failsAt?.milliseconds, next.resourceTime?.end?.milliseconds,
                next.resourceTime?.leftMilliseconds, next.isPartLost, next.hasSyncFailed, next.id.text,
                before.revision,
            ])
        guard changedRows == 1 else { return false }
        count(before, next)
        touch(next.id)
        wakeDeadlines(next)
        return true
    }
}
