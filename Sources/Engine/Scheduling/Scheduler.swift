import Downloads
import Foundation
import Locks
import Storage

/// Admits jobs. When a commit makes jobs due, or a wait ends, the scheduler fills the free slots with jobs.
///
/// Queued jobs are not held in memory: each is a row in the database.
struct Scheduler: MaintenanceWorker {
    let services: EngineServices
    /// The present limits, without the connections that are taken.
    let limits: @Sendable () -> AdmissionLimits
    let active: ActiveAttempts
    /// Called on the writer's thread, directly after the commit that admits the job.
    let start: @Sendable (AdmittedJob) -> Void

    let purpose = "admit jobs"
    var trigger: AsyncAutoResetEvent? { services.store.work(.jobs) }

    func pass() async throws -> Date? {
        // No slot is free. The end of an attempt sets `trigger`.
        guard active.count < limits().jobs else { return nil }
        // Other nodes may take over what this one begins.
        guard services.store.holdsLease else { return services.time.now.addingTimeInterval(1) }
        // An attempt would fail now. FolderMonitor sets `trigger` when the folder works again.
        guard services.health.fault == nil else { return nil }
        let taken = services.connections.beginAdmission()
        defer { services.connections.endAdmission() }
        let presentLimits: @Sendable () -> AdmissionLimits = { [limits] in limits().with(taken) }
        return try await services.store.admitJobs(presentLimits) { $0.forEach(start) }.nextWaitEnds
    }
}
