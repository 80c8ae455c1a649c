import Downloads
import Foundation
import Locks
import Storage

/// Inspects the downloads folder. While the folder does not work, the scheduler admits no job. When it works again, the
/// jobs that wait for it continue.
struct FolderMonitor: MaintenanceWorker {
    let services: EngineServices
    /// The disk lane that inspects the folder.
    let lane: DiskLane
    /// Seconds between two inspections of a folder that works.
    let interval: TimeInterval
    /// Seconds between two inspections of a folder that does not work.
    let faultInterval: TimeInterval

    let purpose = "end the waits for the downloads folder"
    var trigger: AsyncAutoResetEvent? { services.health.doubts }

    func pass() async throws -> Date? {
        let (folder, isInDoubt) = (services.folder, services.health.takeDoubt())
        let fault = try? await lane.run { folder.inspect(byWriting: isInDoubt) }
        let before = services.health.note(fault)
        if let fault, before == nil {
            services.log.error(
                "The downloads folder does not work: could not \(fault.action): \(fault.reason). Jobs wait.")
        }
        if fault == nil, before != nil { await endWaits() }
        return services.time.now.addingTimeInterval(fault == nil ? interval : faultInterval)
    }

    private func endWaits() async {
        services.log.notice("The downloads folder works again.")
        do {
            try await services.store.endStorageWaits()
        } catch {
            // In this case each job retries at its own time.
            services.log.error("Could not \(purpose): \(error). They end by themselves.")
        }
        services.store.work(.jobs).set()
    }
}
