import Formats
import Foundation
import Storage

/// Follows the wall clock after a jump, also while nothing else is committed, and logs each jump.
struct ClockMonitor: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two comparisons of the clocks.
    let interval: TimeInterval

    let purpose = "store the time"

    func pass() async throws -> Date? {
        try await services.store.followClock()
        for jump in services.time.takeJumps() { services.log.warning("\(Self.warning(of: jump))") }
        return services.time.now.addingTimeInterval(interval)
    }

    private static func warning(of jump: ClockJump) -> String {
        """
        The clock has jumped \(jump)\(jump.isAtStart ? ", since the service last stored the time" : ""). Retries, \
        finishes, deliveries and time limits keep their remaining time. For an hour no data is removed because of its \
        age\(jump.by > 0 ? ", and not_before and deadline of earlier jobs are also judged by the previous clock" : "").
        """
    }
}
