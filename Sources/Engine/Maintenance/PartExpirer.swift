import Downloads
import Foundation
import Locks
import Storage

/// Removes resume data that has expired or exceeds a limit. The promise in the database is removed before the part
/// file, so that no promise is left without its bytes.
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
