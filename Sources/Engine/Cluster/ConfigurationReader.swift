import Downloads
import Foundation
import Locks
import Storage

/// Applies the rate limits of sessions to running transfers, after another node has changed a configuration.
struct ConfigurationReader: MaintenanceWorker {
    let services: EngineServices
    let active: ActiveAttempts

    let purpose = "read the changed configurations of sessions"
    var trigger: AsyncAutoResetEvent? { services.store.work(.configurations) }

    func pass() async throws -> Date? {
        guard services.store.node != nil else { return nil }
        try await services.store.takeConfigurations { [active] in
            active.sessionNames
        } onCommit: { [active] configurations in
            for (name, configuration) in configurations { active.limit(name, to: configuration.rateLimit) }
        }
        return nil
    }
}
