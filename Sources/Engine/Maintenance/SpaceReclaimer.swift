import Foundation
import Storage

/// Makes the database file smaller after the removal of many rows. A file with much data stays as it is, because its
/// rewriting would delay requests: `fetchd compact` rewrites it while the service is stopped.
struct SpaceReclaimer: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two passes.
    let interval: TimeInterval

    let purpose = "make the database file smaller"

    /// Bytes in use. Writes wait for less than a second while they are copied.
    static let mostCopied: Int64 = 64 << 20

    func pass() async throws -> Date? {
        if let before = try await services.store.reclaimSpace(copyingAtMost: Self.mostCopied),
            let after = try await services.store.space()
        {
            services.log.info("The database file has become smaller: \(before.size) bytes before, \(after.size) now.")
        }
        return services.time.now.addingTimeInterval(interval)
    }
}
