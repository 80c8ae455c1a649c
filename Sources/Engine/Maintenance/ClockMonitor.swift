import Formats
import Foundation
import Storage

/// Sees to it that the service follows a wall clock that has jumped, also when nothing else happens, and tells of it.
struct ClockMonitor: Sendable {
    let services: EngineServices

    private static let interval: Duration = .seconds(1)

    func run() async {
        while !Task.isCancelled {
            do {
                try await services.store.followClock()
            } catch {
                services.log.error("Could not store the time: \(error). Trying again in a second.")
            }
            for jump in services.time.takeJumps() { services.log.warning("\(Self.warning(of: jump))") }
            try? await services.time.sleep(untilUptime: services.time.uptime + Self.interval)
        }
    }

    private static func warning(of jump: ClockJump) -> String {
        """
        The clock has jumped \(jump)\(jump.isAtStart ? ", since the service stored a time last" : ""). Retries, \
        finishes, deliveries and time limits keep the time that they had left. For an hour nothing is removed because \
        of its age\(jump.by > 0 ? ", and earlier not_before and deadline are judged by the clock before, too" : "").
        """
    }
}
