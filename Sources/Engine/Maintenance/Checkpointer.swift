import Base
import Downloads
import Foundation
import Storage

/// Stores offsets while bytes arrive: it syncs the parts of one location that attempts have written to, then commits their
/// offsets together. An attempt whose part cannot be synced ends, because its bytes are lost.
///
/// A commit and a sync cost as much for one byte as for many, so a part that receives little waits for more.
struct Checkpointer: Sendable {
    let services: EngineServices
    let location: Location
    private let diskQueue: DiskQueue
    /// The parts that wait for more bytes.
    private let gathering = Locked<[PartID: Gathering]>([:])

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
        let dirty = attemptsThatAreDue()
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

    private func attemptsThatAreDue() -> [Dirty] {
        let dirty = attempts.compactMap { attempt in
            attempt.file.flatMap { $0.part.isDirty ? (attempt: attempt, file: $0) : nil }
        }
        let former = gathering.withLock { $0 }
        var kept: [PartID: Gathering] = [:]
        let due = dirty.filter { _, file in
            let waiting = Gathering(
                of: file.part.bytesPending, hasOffset: file.part.durable.count > 0, after: former[file.part.id],
                now: services.time.uptime, interval: .seconds(services.options.checkpointInterval))
            guard let waiting else { return true }
            kept[file.part.id] = waiting
            return false
        }
        gathering.withLock { $0 = kept }
        return due
    }

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

/// A part that waits for more bytes before its offset is stored.
struct Gathering: Equatable {
    var since: Duration
    /// The bytes that were not durable at the last pass.
    var bytes: Int64

    /// A part with as many bytes is not delayed.
    static let enough: Int64 = 64 << 10
    /// The longest time between two offsets of a part that receives bytes.
    static let patience = Duration.seconds(10)
}

extension Gathering {
    /// nil if the offset is stored now: the first one, one after enough bytes or time, or that of a transfer that has stalled.
    ///
    /// - Parameters:
    ///   - pending: the bytes that are not durable.
    ///   - interval: the time until the next pass.
    init?(of pending: Int64, hasOffset: Bool, after former: Gathering?, now: Duration, interval: Duration) {
        let since = former?.since ?? now
        guard hasOffset, pending < Self.enough, pending != former?.bytes, now + interval - since < Self.patience
        else { return nil }
        self.init(since: since, bytes: pending)
    }
}
