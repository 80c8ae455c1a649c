import Foundation
import Storage

/// Stops the attempts when the lease of this node cannot be renewed: other nodes may take over its jobs soon. The jobs are
/// queued again as soon as the database can be reached.
struct LeaseMonitor: MaintenanceWorker {
    let services: EngineServices
    let active: ActiveAttempts
    private var held = true

    init(services: EngineServices, active: ActiveAttempts) { (self.services, self.active) = (services, active) }

    let purpose = "watch the lease of this node"

    mutating func pass() async throws -> Date? {
        guard services.store.node != nil else { return nil }
        let holds = services.store.holdsLease
        if !holds { active.stopAll() }
        if held != holds { report(holds) }
        held = holds
        return services.time.now.addingTimeInterval(Self.interval)
    }

    private func report(_ holds: Bool) {
        guard holds else {
            return services.log.error(
                "This node cannot renew its lease in the database. Its transfers stop, because other nodes may take over."
            )
        }
        services.log.notice("This node has renewed its lease, and begins transfers again.")
        services.store.work(.jobs).set()
    }

    private static let interval: TimeInterval = 0.5
}
