import Foundation
import Storage

/// Stores when tokens were last used. Requests only note it in memory, because a commit for each request would cost more
/// than the request.
struct TokenUseRecorder: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two passes.
    let interval: TimeInterval

    let purpose = "store when tokens were last used"

    func pass() async throws -> Date? {
        try await services.store.storeTokenUses()
        return services.time.now.addingTimeInterval(interval)
    }
}
