import Downloads
import Foundation
import Storage

/// Makes offsets promises: every two seconds while bytes arrive, first the parts are synced, then their offsets are
/// committed together. An attempt whose part could not be synced ends: its bytes are lost.
struct Checkpointer: Sendable {
    let services: EngineServices
    let active: ActiveAttempts
    /// Where syncing waits for the disk.
    let lane: DiskLane

    static let interval: TimeInterval = 2

    func run() async {
        while !Task.isCancelled {
            try? await services.time.sleep(until: services.time.now.addingTimeInterval(Self.interval))
            await checkpoint()
        }
    }

    func checkpoint() async {
        let dirty = active.all.compactMap { attempt in
            attempt.partFile.flatMap { $0.isDirty ? (attempt: attempt, file: $0) : nil }
        }
        guard !dirty.isEmpty else { return }
        let synced = await sync(dirty)
        let parts = synced.compactMap { attempt, _ in attempt.part.map { (attempt: attempt, part: $0) } }
        do {
            try await services.store.checkpoint(
                parts.map { (job: $0.attempt.job.id, attempt: $0.attempt.job.attempts, part: $0.part) })
            for (attempt, part) in parts { attempt.progress.notePromise(part) }
        } catch {
            // The offsets before still hold; the next tick tries again.
            services.log.error("Could not commit \(parts.count) offsets: \(error).")
        }
    }

    private typealias Dirty = (attempt: Attempt, file: PartFile)

    /// Those that are durable now. One that could not be synced keeps the offset it had.
    private func sync(_ dirty: [Dirty]) async -> [Dirty] {
        let folder = services.folder
        let faults = (try? await lane.run { folder.syncForPromise(dirty.map(\.file)) }) ?? []
        return zip(dirty, faults).compactMap { part, fault in
            guard let fault else { return part }
            services.log.error(
                "Could not sync part \(part.file.id) of \(part.attempt.job.id): \(fault.reason). Its attempt ends.")
            part.attempt.control.requestStop(.failed(fault.failure))
            return nil
        }
    }
}
