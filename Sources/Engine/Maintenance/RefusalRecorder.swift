import Foundation
import Storage

/// Stores the refused requests in the audit log, those of a minute in one commit.
struct RefusalRecorder: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two passes.
    let interval: TimeInterval

    let purpose = "store refused requests"

    func pass() async throws -> Date? {
        try await services.store.storeRefusals()
        return services.time.now.addingTimeInterval(interval)
    }
}
