import Base
import Downloads
import Foundation
import Storage

/// Finishes batches that are due. A batch that became due while fetchd did not run is finished at the start.
struct BatchFinisher: MaintenanceWorker {
    let services: EngineServices

    let purpose = "finish batches"
    let isOfLeader = true
    var trigger: AsyncAutoResetEvent? { services.store.work(.batches) }

    func pass() async throws -> Date? {
        for batch in try await services.store.finishDueBatches() {
            services.log.info(
                "Batch \(batch.number) of session \(batch.session) finished: \(batch.outcome.rawValue).",
                metadata: ["session": "\(batch.session)", "batch": .stringConvertible(batch.number)])
        }
        return try await services.store.nextBatchDue()
    }
}

/// Fails the jobs whose `deadline` or `timeouts.resource_seconds` has passed, in any state that is not final, and stops
/// their attempts.
struct DeadlineEnforcer: MaintenanceWorker {
    let services: EngineServices

    let purpose = "fail the jobs that have run out of time"
    let isOfLeader = true
    var trigger: AsyncAutoResetEvent? { services.store.work(.deadlines) }

    func pass() async throws -> Date? {
        let latest = services.time.now.addingTimeInterval(Store.longestPollInterval)
        let next = try await services.store.failOverdueJobs { [services] outcomes in
            for outcome in outcomes { services.active.requestStop(asDecided: outcome) }
        }.next
        return min(next ?? latest, latest)
    }
}

/// Removes resume data that has expired or exceeds a limit. The offset in the database is removed before the part
/// file, so that no stored offset is left without its bytes.
struct PartExpirer: MaintenanceWorker {
    let services: EngineServices

    let purpose = "remove resume data"
    let isOfLeader = true
    var trigger: AsyncAutoResetEvent? { services.store.work(.parts) }

    func pass() async throws -> Date? {
        let (dropped, next) = try await services.store.expireParts { [services] in
            let limits = services.storageLimits
            return PartLimits(bytes: limits.maxResumeDataBytes, count: limits.maxParts)
        }
        await services.removeParts(dropped)
        if !dropped.isEmpty { services.log.info("Resume data removed: \(dropped.count) parts.") }
        return next
    }
}

/// Removes deleted sessions when all of their jobs and deliveries are settled. The parts of their jobs are removed,
/// too; finished files stay.
struct SessionCloser: MaintenanceWorker {
    let services: EngineServices

    let purpose = "close deleted sessions"
    let isOfLeader = true
    var trigger: AsyncAutoResetEvent? { services.store.work(.sessions) }

    func pass() async throws -> Date? {
        try await close()
        return nil
    }

    /// Removes the settled sessions. A session with a lease stays; the end of the lease sets `trigger`.
    func close() async throws {
        while true {
            let steps = try await services.store.removeSettledSessions { [leases = services.leases] in leases.sessions }
            for step in steps {
                await services.removeParts(step.dropped)
                if step.isGone { services.log.info("Session \(step.session) is settled and removed.") }
            }
            if steps.isEmpty { return }
        }
    }
}
