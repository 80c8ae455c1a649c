import Downloads
import Foundation
import Locks
import Storage

/// Removes resume data that has expired or exceeds a limit. The promise in the database is removed before the part
/// file, so that no promise is left without its bytes.
struct PartExpirer: MaintenanceWorker {
    let services: EngineServices
    /// Maximum number of bytes of resume data; nil: no limit.
    let limit: Int64?
    /// Maximum number of parts of jobs that do not run; nil: no limit.
    var mostParts: Int?

    let purpose = "remove resume data"
    var trigger: AsyncAutoResetEvent? { services.store.work(.parts) }

    func pass() async throws -> Date? {
        let (dropped, next) = try await services.store.expireParts(over: limit, keeping: mostParts)
        await services.removeParts(dropped)
        if !dropped.isEmpty { services.log.info("Resume data removed: \(dropped.count) parts.") }
        return next
    }
}
