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
        return try await writer.write(onCommit: { onCommit($0.admitted) }) { transaction in
            try transaction.endWaits()
            var quotas = try AdmissionQuotas(transaction)
            let admitted = try transaction.admitJobs(limits(), &quotas, sharesDownloads: sharesDownloads)
            return AdmissionRound(admitted: admitted, nextWaitEnds: try transaction.nextWaitEnds(quotas))
        }
    }

    /// Ends the waits of all jobs that wait for the downloads folder. The engine calls it when the folder works again.
    public func endStorageWaits() async throws {
        while try await writer.write({ try $0.endStorageWaits(limit: 500) }) {}
    }
}
