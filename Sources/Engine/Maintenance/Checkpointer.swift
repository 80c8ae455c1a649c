import Base
import Downloads
import Foundation
import Storage

/// Stores offsets while bytes arrive: it syncs the parts of one location that attempts have written to, then commits their
/// offsets together. An attempt whose part cannot be synced ends, because its bytes are lost.
struct Checkpointer: Sendable {
    let services: EngineServices
    let location: Location
    private let diskQueue: DiskQueue

    init(services: EngineServices, location: Location) {
        self.services = services
        self.location = location
        diskQueue = location.diskQueues.next()
    }

    private var attempts: [Attempt] { services.active.all.filter { $0.location === location } }

    func pass() async throws -> Date? {
        try await checkpoint()
        // The first attempt that begins after this starts the next pass.
        guard !attempts.isEmpty else { return nil }
        return services.time.now.addingTimeInterval(services.options.checkpointInterval)
    }

    /// - Throws: when the commit failed. The earlier offsets then still hold.
    private func checkpoint() async throws {
        let dirty = attempts.compactMap { attempt in
            attempt.file.flatMap { $0.part.isDirty ? (attempt: attempt, file: $0) : nil }
        }
        guard !dirty.isEmpty else { return }
        let synced = await sync(dirty)
        // An attempt can have discarded its file meanwhile.
        let parts = synced.compactMap { attempt, _ in attempt.file.map { (attempt: attempt, part: $0.durablePart) } }
        let received = Dictionary(
            uniqueKeysWithValues: parts.map { ($0.attempt.job.id, $0.attempt.control.transferred) })
        try await services.store.checkpoint(
            parts.map { (job: $0.attempt.job.id, admission: $0.attempt.job.admissions, part: $0.part) },
            received: received)
        for (attempt, part) in parts { attempt.control.recordCheckpoint(of: part) }
    }

    private typealias Dirty = (attempt: Attempt, file: SegmentedFile)

    /// - Returns: the parts that are durable now. A part that could not be synced keeps its earlier offset.
    private func sync(_ dirty: [Dirty]) async -> [Dirty] {
        let folder = location.folder
        let syncs = services.measurements.syncs
        let faults =
            (try? await diskQueue.run { () -> [DiskError?] in
                let watch = Stopwatch()
                defer { syncs.record(watch) }
                return folder.syncForCheckpoint(dirty.map(\.file.part))
            }) ?? []
        return zip(dirty, faults).compactMap { dirty, fault in
            guard let fault else { return dirty }
            services.log.error(
                "Could not sync part \(dirty.file.part.id) of \(dirty.attempt.job.id): \(fault.reason). Its attempt ends.",
                metadata: dirty.attempt.logFields)
            dirty.attempt.control.requestStop(.failed(fault.failure))
            return nil
        }
    }
}
