import Formats
import Foundation
import Logging
import Storage

/// Applies the schedule: sleeps until the limits change next, and looks again when the settings or the clock change.
public struct ScheduleFollower: Sendable {
    let configuration: ServiceConfiguration
    let store: Store
    let log: Logger

    public init(_ configuration: ServiceConfiguration, store: Store, log: Logger) {
        (self.configuration, self.store, self.log) = (configuration, store, log)
    }

    /// Runs until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            let (before, after) = configuration.followSchedule(at: store.time.now)
            if (before.rateLimit, before.maxConcurrentJobs) != (after.rateLimit, after.maxConcurrentJobs) {
                log.notice("\(Self.report(after))")
            }
            await store.work(.schedule).wait(until: after.until, by: store.time)
        }
    }

    private static func report(_ settings: EffectiveSettings) -> String {
        let rate = settings.rateLimit.map { "\($0) bytes per second" } ?? "no rate limit"
        let until = settings.until.map { " until \($0.rfc3339)" } ?? ""
        return "The schedule sets \(rate) and at most \(settings.maxConcurrentJobs) running jobs\(until)."
    }
}
