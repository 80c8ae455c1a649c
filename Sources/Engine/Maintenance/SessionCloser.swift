import Downloads
import Foundation
import Locks
import Storage

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
