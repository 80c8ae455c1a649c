import Downloads
import Foundation

/// Decides which jobs run. Jobs of higher priority run first. Within one priority the session with the fewest running jobs
/// is next, and within a session the oldest job that its limits allow.
extension Store {
    /// Queues the jobs whose wait has ended, and admits queued jobs to the free slots.
    ///
    /// - Parameters:
    ///   - limits: called on the writer's thread, because the limits can change before the write begins.
    ///   - onCommit: see `Writer.write`. The engine notes the new attempts in it.
    public func admitJobs(
        _ limits: @escaping @Sendable () -> AdmissionLimits, onCommit: @escaping @Sendable ([AdmittedJob]) -> Void
    ) async throws -> AdmissionRound {
        let sharesDownloads = options.node.sharesDownloads
        let (admitted, next) = try await writer.write(onCommit: { onCommit($0.0) }) { transaction in
            try transaction.endWaits()
            var quotas = try AdmissionQuotas(transaction)
            let admitted = try transaction.admitJobs(limits(), &quotas, sharesDownloads: sharesDownloads)
            return (admitted, NextLook(after: transaction, quotas))
        }
        // After the commit, because no other node writes during it. A later change wakes the scheduler.
        return AdmissionRound(admitted: admitted, nextWaitEnds: try await nextWaitEnds(next))
    }

    private func nextWaitEnds(_ next: NextLook) async throws(StoreError) -> Date? {
        let wait = try await read { try $0.value(Self.nextWait, [next.now.milliseconds], as: Int64.self) }
        return [wait.map(Date.init(milliseconds:)), next.quotasRenewAt, next.doubtfulUntil].compactMap(\.self).min()
    }

    /// Only queued jobs are held. The statement does not say so: PostgreSQL could read all queued jobs for it.
    static let nextWait = """
        SELECT min(at) AS at FROM (
            SELECT (SELECT retry_at FROM jobs WHERE retry_at IS NOT NULL ORDER BY retry_at LIMIT 1) AS at
            UNION ALL SELECT (SELECT held_until FROM jobs WHERE held_until > ? ORDER BY held_until LIMIT 1)) AS moments
        """

    /// Ends the waits of all jobs that wait for the downloads folder. The engine calls it when the folder works again.
    public func endStorageWaits() async throws {
        while try await writer.write({ try $0.endStorageWaits(limit: 500) }) {}
    }
}

/// When to look for due jobs, apart from their own times.
private struct NextLook {
    let now: Date
    let quotasRenewAt: Date?
    /// While the clock is in doubt, some jobs may be held although their time has come.
    let doubtfulUntil: Date?

    init(after transaction: Transaction, _ quotas: AdmissionQuotas) {
        (now, quotasRenewAt) = (transaction.now, quotas.continuesAt)
        let isInDoubt = transaction.confidence.doubt(at: now) > 0
        doubtfulUntil = isInDoubt ? now.addingTimeInterval(Store.longestPollInterval) : nil
    }
}
