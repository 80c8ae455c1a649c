import Downloads
import Foundation
import Locks
import Storage

/// Admits jobs: whenever a commit makes jobs due, or a wait ends, it admits as many as there are free slots.
///
/// Queued jobs are not held in memory: each is a row in the database.
struct Scheduler: MaintenanceWorker {
    let services: EngineServices
    let limits: AdmissionLimits
    let active: ActiveAttempts
    /// Is called on the writer's thread, right after the commit that admits the job.
    let start: @Sendable (AdmittedJob) -> Void

    let purpose = "admit jobs"
    var trigger: AsyncAutoResetEvent? { services.store.work(.jobs) }

    func pass() async throws -> Date? {
        // Without a free slot, the end of an attempt rings.
        guard active.count < limits.jobs else { return nil }
        // An attempt would fail now. FolderMonitor rings when the folder works again.
        guard services.health.fault == nil else { return nil }
        var limits = limits
        limits.taken = services.connections.beginAdmission()
        defer { services.connections.endAdmission() }
        return try await services.store.admitJobs(limits) { $0.forEach(start) }.nextWaitEnds
    }
}
