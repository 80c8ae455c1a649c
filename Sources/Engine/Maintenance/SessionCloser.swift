import Downloads
import Foundation
import Locks
import Storage

/// Removes deleted sessions when all of their jobs and deliveries are settled, with the parts of their jobs. Finished files
/// stay.
struct SessionCloser: MaintenanceWorker {
    let services: EngineServices

    let purpose = "close deleted sessions"
    var trigger: AsyncAutoResetEvent? { services.store.work(.sessions) }

    func pass() async throws -> Date? {
        try await close()
        return nil
    }

    /// Closes the sessions that are settled. A session with a lease stays; the end of the lease rings.
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
