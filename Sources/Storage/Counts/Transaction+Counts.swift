import Downloads
import GRDB

/// Notes how a change changes the kept counts. The writer writes the counts at the end of the group commit.
extension Transaction {
    /// Every function that inserts, updates or deletes a job or its part calls this.
    ///
    /// - Parameters:
    ///   - before: the job as it was stored; nil for a new job.
    ///   - after: the job as it is stored now; nil for a deleted job.
    func count(_ before: Job?, _ after: Job?) {
        counts.add(from: before.map(JobShare.init), to: after.map(JobShare.init))
    }

    func count(removed job: JobShare) { counts.add(from: job, to: nil) }
    func count(removedSession session: Name) { counts.removeSession(session) }

    func countDeliveries(_ count: Int = 1, from before: Delivery.State.Name?, to after: Delivery.State.Name?) {
        if let before { counts.service[deliveries: before] -= count }
        if let after { counts.service[deliveries: after] += count }
    }

    /// A batch has finished, or its finish was acknowledged or removed.
    func countFinishes(_ change: Int) { counts.service.unacknowledgedFinishes += change }
}
