import Base
import Downloads
import Foundation
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

/// Compares the counts that the store keeps with a full count, and corrects them. A difference is a fault of fetchd, so it
/// is logged as an error.
struct CountChecker: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two comparisons.
    let interval: TimeInterval

    let purpose = "compare the kept counts with a full count"
    let isOfLeader = true

    func pass() async throws -> Date? {
        for drift in try await services.store.checkCounts() {
            services.log.error("The kept counts were wrong, and fetchd has corrected them. \(drift)")
        }
        return services.time.now.addingTimeInterval(interval)
    }
}

/// Keeps the statistics of a PostgreSQL database as new as its tables. SQLite needs none: its statements name their indexes.
struct TableAnalyzer: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two looks.
    let interval: TimeInterval

    let purpose = "analyze the tables of the database"
    let isOfLeader = true

    func pass() async throws -> Date? {
        guard services.store.node != nil else { return nil }
        try await services.store.analyzeGrownTables()
        return services.time.now.addingTimeInterval(interval)
    }
}

/// Makes the database file smaller after the removal of many rows. A file with much data stays as it is, because its
/// rewriting would delay requests: `fetchd compact` rewrites it while the service is stopped.
struct SpaceReclaimer: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two passes.
    let interval: TimeInterval

    let purpose = "make the database file smaller"

    /// Bytes in use. Writes wait for less than a second while they are copied.
    static let mostCopied: Int64 = 64 << 20

    func pass() async throws -> Date? {
        if let before = try await services.store.reclaimSpace(copyingAtMost: Self.mostCopied),
            let after = try await services.store.space()
        {
            services.log.info("The database file has become smaller: \(before.size) bytes before, \(after.size) now.")
        }
        return services.time.now.addingTimeInterval(interval)
    }
}
