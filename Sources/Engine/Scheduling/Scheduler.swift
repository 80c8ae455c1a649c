import Downloads
import Foundation
import Storage

/// Gives slots to jobs: whenever a commit has made jobs due, or a wait has ended, as many are admitted as there is room for.
///
/// Nothing is kept here of jobs that wait: they cost a row each, and no memory.
struct Scheduler: Sendable {
    let services: EngineServices
    let limits: AdmissionLimits
    let active: ActiveAttempts
    /// On the writer's thread, right after the commit that admits it.
    let start: @Sendable (AdmittedJob) -> Void

    func run() async {
        while !Task.isCancelled {
            let next = await admit()
            await services.store.work(.jobs).wait(until: next, by: services.time)
        }
    }

    /// - Returns: when to look again without being woken.
    private func admit() async -> Date? {
        // Full: the next end of an attempt rings.
        guard active.count < limits.jobs else { return nil }
        // An attempt would fail now. FolderMonitor rings when the folder works again.
        guard services.health.fault == nil else { return nil }
        var limits = limits
        limits.taken = services.connections.beginAdmission()
        defer { services.connections.endAdmission() }
        do {
            return try await services.store.admitJobs(limits) { $0.forEach(start) }.nextWaitEnds
        } catch {
            services.log.error("Could not admit jobs: \(error). Trying again in a second.")
            return services.time.now.addingTimeInterval(1)
        }
    }
}
