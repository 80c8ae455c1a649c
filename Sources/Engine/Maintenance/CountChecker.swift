import Foundation
import Storage

/// Compares the counts that the store keeps with a full count, and corrects them. A difference is a fault of fetchd, so it
/// is logged as an error.
struct CountChecker: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two comparisons.
    let interval: TimeInterval

    let purpose = "compare the kept counts with a full count"
    let isOfLeader = true

    func pass() async throws -> Date? {
        for drift in try await services.store.checkCounts() {
            services.log.error("The kept counts were wrong, and fetchd has corrected them. \(drift)")
        }
        return services.time.now.addingTimeInterval(interval)
    }
}
