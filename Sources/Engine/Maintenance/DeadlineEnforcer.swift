import Downloads
import Foundation
import Storage

/// Fails the jobs whose `deadline` or `timeouts.resource_seconds` has passed, whatever they are doing.
struct DeadlineEnforcer: Sendable {
    let services: EngineServices
    let active: ActiveAttempts

    func run() async {
        while !Task.isCancelled {
            let latest = services.time.now.addingTimeInterval(Store.longestPollInterval)
            let next = await fail() ?? latest
            await services.store.work(.deadlines).wait(until: min(next, latest), by: services.time)
        }
    }

    private func fail() async -> Date? {
        do {
            return try await services.store.failOverdueJobs { [active] outcomes in
                for outcome in outcomes { active.requestStop(asDecided: outcome) }
            }.next
        } catch {
            services.log.error("Could not fail the jobs that have run out of time: \(error). Trying again in a second.")
            return services.time.now.addingTimeInterval(1)
        }
    }
}
