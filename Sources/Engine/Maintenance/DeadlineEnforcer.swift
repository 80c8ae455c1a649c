import Downloads
import Foundation
import Locks
import Storage

/// Fails the jobs whose `deadline` or `timeouts.resource_seconds` has passed, in any state that is not final, and stops
/// their attempts.
struct DeadlineEnforcer: MaintenanceWorker {
    let services: EngineServices
    let active: ActiveAttempts

    let purpose = "fail the jobs that have run out of time"
    let isOfLeader = true
    var trigger: AsyncAutoResetEvent? { services.store.work(.deadlines) }

    func pass() async throws -> Date? {
        let latest = services.time.now.addingTimeInterval(Store.longestPollInterval)
        let next = try await services.store.failOverdueJobs { [active] outcomes in
            for outcome in outcomes { active.requestStop(asDecided: outcome) }
        }.next
        return min(next ?? latest, latest)
    }
}
