import Downloads
import Foundation
import Locks
import Storage

/// Removes events, idempotency keys, counts of bytes and audit entries that are older than the retention, in small steps, so
/// that requests do not wait for the removal.
struct JournalPruner: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two passes; nil: a tenth of the retention of acknowledged events, at least 1 second, at most 1
    /// hour.
    let interval: TimeInterval?

    let purpose = "prune the journal"
    let isOfLeader = true
    var trigger: AsyncAutoResetEvent? { services.journalRetention }

    func pass() async throws -> Date? {
        // Each step has the present retention, which a client can change.
        let presentRetention: @Sendable () -> Retention = { [services] in services.storageLimits.retention }
        while try await services.store.pruneEvents(keeping: presentRetention), !Task.isCancelled {}
        while try await services.store.pruneIdempotencyKeys(), !Task.isCancelled {}
        try await services.store.pruneTokenBytes()
        while try await services.store.pruneAudit(), !Task.isCancelled {}
        let retention = services.storageLimits.retention
        return services.time.now.addingTimeInterval(interval ?? min(max(retention.acknowledged / 10, 1), 3600))
    }
}
