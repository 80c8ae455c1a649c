import Downloads
import Foundation
import Storage

/// Compares the jobs that run at this node, as the database has them, with its attempts.
///
/// After a failover to a standby that lacks the last commits, a job can be running again in the database whose attempt has ended here.
/// Without an attempt, it would run for ever. A job is queued again if two passes find no attempt: one that has just been admitted
/// gets its attempt directly after the commit.
struct AttemptComparison: MaintenanceWorker {
    let services: EngineServices
    let active: ActiveAttempts
    /// Seconds between two comparisons.
    let interval: TimeInterval
    /// The jobs without an attempt in the last pass.
    private var suspects: Set<OwnJob> = []

    init(services: EngineServices, active: ActiveAttempts, interval: TimeInterval) {
        (self.services, self.active, self.interval) = (services, active, interval)
    }

    let purpose = "compare the running jobs of this node with its transfers"

    mutating func pass() async throws -> Date? {
        let store = services.store
        guard store.node != nil else { return nil }
        guard store.holdsLease else { return services.time.now.addingTimeInterval(interval) }
        let hasNoAttempt = { @Sendable [active] (own: OwnJob) in
            active.attempt(of: own.job, admission: own.admission) == nil
        }
        let found = try await store.ownJobs().filter(hasNoAttempt)
        let again = found.intersection(suspects)
        suspects = found
        if again.contains(where: \.isPromoting) { services.takenPromotions.set() }
        let queued = try await store.interrupt(again.filter { !$0.isPromoting }, where: hasNoAttempt)
        if queued > 0 {
            services.log.warning(
                "\(queued) jobs were running at this node in the database, and had no transfer. They are queued again.")
        }
        return services.time.now.addingTimeInterval(interval)
    }
}
