import Downloads
import Foundation
import Locks
import Metrics
import Storage

/// Promises offsets while bytes arrive: it syncs the parts that attempts have written to, then commits their offsets
/// together. An attempt whose part cannot be synced ends, because its bytes are lost.
struct Checkpointer: MaintenanceWorker {
    let services: EngineServices
    let active: ActiveAttempts
    /// The disk lane that syncs the parts.
    let lane: DiskLane
    /// Seconds between two checkpoints while attempts run.
    let interval: TimeInterval

    let purpose = "commit offsets"
    var trigger: AsyncAutoResetEvent? { active.firstBegun }

    func pass() async throws -> Date? {
        try await checkpoint()
        // An attempt that begins after this sets the trigger.
        return active.count == 0 ? nil : services.time.now.addingTimeInterval(interval)
    }

    /// - Throws: when the commit failed. The earlier offsets then still hold.
    private func checkpoint() async throws {
        let dirty = active.all.compactMap { attempt in
            attempt.partFile.flatMap { $0.isDirty ? (attempt: attempt, file: $0) : nil }
        }
        guard !dirty.isEmpty else { return }
        let synced = await sync(dirty)
        let parts = synced.compactMap { attempt, _ in attempt.part.map { (attempt: attempt, part: $0) } }
        let received = Dictionary(
            uniqueKeysWithValues: parts.map { ($0.attempt.job.id, $0.attempt.progress.transferred) })
        try await services.store.checkpoint(
            parts.map { (job: $0.attempt.job.id, admission: $0.attempt.job.admissions, part: $0.part) },
            received: received)
        for (attempt, part) in parts { attempt.progress.notePromise(part) }
    }

    private typealias Dirty = (attempt: Attempt, file: PartFile)

    /// - Returns: the parts that are durable now. A part that could not be synced keeps its earlier offset.
    private func sync(_ dirty: [Dirty]) async -> [Dirty] {
        let folder = services.folder
        let syncs = services.measurements.syncs
        let faults =
            (try? await lane.run { () -> [DiskError?] in
                let watch = Stopwatch()
                defer { syncs.record(watch) }
                return folder.syncForPromise(dirty.map(\.file))
            }) ?? []
        return zip(dirty, faults).compactMap { part, fault in
            guard let fault else { return part }
            services.log.error(
                "Could not sync part \(part.file.id) of \(part.attempt.job.id): \(fault.reason). Its attempt ends.",
                metadata: part.attempt.logFields)
            part.attempt.control.requestStop(.failed(fault.failure))
            return nil
        }
    }
}
