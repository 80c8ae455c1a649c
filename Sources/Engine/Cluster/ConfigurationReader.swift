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
        for name in active.sessionNames {
            guard let session = try? await services.store.session(name) else { continue }
            active.limit(name, to: session.session.configuration.rateLimit)
        }
        return nil
    }
}
