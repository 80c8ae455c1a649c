import Downloads
import Foundation
import Storage

/// Looks after the downloads folder: while it does not work no job is admitted, and when it works again the jobs that wait for
/// it go on.
struct FolderMonitor: Sendable {
    let services: EngineServices
    /// Where looking waits for the disk.
    let lane: DiskLane

    /// Seconds between looks at a folder that works.
    private static let interval: TimeInterval = 10
    /// Seconds between looks at one that does not.
    private static let failingInterval: TimeInterval = 1

    func run() async {
        while !Task.isCancelled {
            let fault = await look()
            let interval = fault == nil ? Self.interval : Self.failingInterval
            await services.health.doubts.wait(
                until: services.time.now.addingTimeInterval(interval), by: services.time)
        }
    }

    /// - Returns: why the folder cannot be used.
    private func look() async -> DiskError? {
        let (folder, isInDoubt) = (services.folder, services.health.takeDoubt())
        let fault = try? await lane.run { folder.inspect(byWriting: isInDoubt) }
        let before = services.health.note(fault)
        if let fault, before == nil {
            services.log.error(
                "The downloads folder does not work: could not \(fault.action): \(fault.reason). Jobs wait.")
        }
        if fault == nil, before != nil { await goOn() }
        return fault
    }

    private func goOn() async {
        services.log.notice("The downloads folder works again.")
        do {
            try await services.store.endStorageWaits()
        } catch {
            services.log.error("Could not end the waits for the downloads folder: \(error). They end by themselves.")
        }
        services.store.work(.jobs).set()
    }
}
