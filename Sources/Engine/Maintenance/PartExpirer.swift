import Downloads
import Foundation
import Locks
import Storage

/// Removes resume data that has expired or exceeds the limit: first the promise in the database, then the part file, so
/// that no promise is ever without its bytes.
struct PartExpirer: MaintenanceWorker {
    let services: EngineServices
    /// Bytes of resume data that are kept, at most; nil: any number.
    let limit: Int64?

    let purpose = "remove resume data"
    var trigger: AsyncAutoResetEvent? { services.store.work(.parts) }

    func pass() async throws -> Date? {
        let (dropped, next) = try await services.store.expireParts(over: limit)
        await services.removeParts(dropped)
        if !dropped.isEmpty { services.log.info("Resume data removed: \(dropped.count) parts.") }
        return next
    }
}
