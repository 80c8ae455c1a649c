import Base
import CurlClient
import Downloads
import Formats
import Foundation
import HTTPSemantics
import Logging
import Storage

/// The values that the parts of the engine share: the store, the downloads folder, the transfer client, the disk queues.
struct EngineServices: Sendable {
    let store: Store
    let folder: DownloadsFolder
    let client: CurlClient
    let diskQueues: DiskQueues
    let leases = SessionLeases()
    let health = FolderHealth()
    let connections: HostConnections
    let active: ActiveAttempts
    let received = ReceivedBytes()
    /// The failures of all writes together, because an outage of the database fails those of all jobs.
    let failedWrites = Locked(RepeatedFailures())
    let measurements = EngineMeasurements()
    /// Set when the retention of the journal has changed.
    let journalRetention = AsyncAutoResetEvent()
    /// Set when the retention of finished jobs has changed.
    let finishedRetention = AsyncAutoResetEvent()
    /// Set when this node has taken over jobs whose files were being promoted.
    let takenPromotions = AsyncAutoResetEvent()
    let stop: StopRequest
    /// The base URL that serves `rehearse:` URLs; nil: fetchd refuses these URLs.
    let rehearsalOrigin: String?
    /// Seconds over which the speed is averaged that the session's `minimum_bytes_per_second` limits.
    let minimumSpeedSeconds: Double
    /// The limits that can change while the engine runs.
    var limits = Locked(Engine.Limits(Engine.Options()))
    /// Whether requests to origins name the trace of the job.
    var tracesOrigins = false
    let time: ServiceClock
    let log: Logger

    var storageLimits: Engine.StorageLimits { limits.withLock(\.storage) }

    /// The file that an attempt writes to: the stored part that the attempt continues, or a new part. fetchd never
    /// overwrites stored bytes, so a restart begins a new part.
    func partFile(
        continuing continued: (part: Part, file: Descriptor)?, digesting algorithms: Set<Checksum.Algorithm>,
        _ diskQueue: DiskQueue
    ) -> PartFile {
        if let (part, file) = continued {
            return PartFile(part.id, having: part.ranges, digesting: algorithms, diskQueue: diskQueue, in: folder) {
                file
            }
        }
        let id = store.makePartID()
        return PartFile(id, digesting: algorithms, diskQueue: diskQueue, in: folder) { [folder] () throws(DiskError) in
            try folder.makePart(id)
        }
    }

    /// Commits how the transfer of an attempt begins. If the transfer restarts, the file of the job's part is removed.
    ///
    /// - Parameter dropped: the part that this attempt discarded.
    func beginTransfer(
        of job: Job, _ outcome: ResumeOutcome, without dropped: PartID? = nil
    ) async throws(NotStored) {
        try await persist("the beginning of \(job.id)'s transfer") {
            try await store.beginTransfer(of: job, outcome, without: dropped)
        }
        if case .restarted = outcome, let part = job.part { await removeParts([part.id]) }
    }

    /// Runs short operations on names in the downloads folder.
    func inFolder<Value: Sendable>(
        _ work: @escaping @Sendable (DownloadsFolder) throws -> Value
    ) async throws -> Value {
        try await diskQueues.metadata.run { [folder] in try work(folder) }
    }

    /// Removes the files of parts that no job needs any more.
    func removeParts(_ parts: [PartID]) async {
        guard !parts.isEmpty else { return }
        try? await inFolder { folder in
            for part in parts { folder.removePart(part) }
        }
    }

    /// Repeats a write until it succeeds, because to give up on a full or failing disk would lose the change.
    ///
    /// - Returns: nil when the job no longer exists.
    /// - Throws: `NotStored` when the engine stops before the write succeeds, or when other nodes have taken over the jobs. The
    ///   caller must then omit every step that depends on the write.
    @discardableResult
    func persist<Value: Sendable>(
        _ what: String, _ write: @Sendable () async throws -> Value
    ) async throws(NotStored) -> Value? {
        var hasFailed = false
        while true {
            do {
                let value = try await write()
                if hasFailed, failedWrites.withLock({ $0.end() }) { log.notice("fetchd has stored \(what).") }
                return value
            } catch StoreError.noSuchJob {
                return nil
            } catch StoreError.nodeReplaced, StoreError.changesLost {
                // Another node or the next process has the job, so nothing is lost.
                throw NotStored()
            } catch {
                hasFailed = true
                logFailure(of: what, error)
            }
            guard await stop.pauseBeforeRepeating(by: time) else {
                log.error("fetchd stops and gives up storing \(what).")
                store.unstored.note()
                throw NotStored()
            }
        }
    }

    private func logFailure(of what: String, _ error: any Error) {
        guard let count = failedWrites.withLock({ $0.note(at: time.uptime) }) else { return }
        log.error(
            "Could not store \(what): \(error) fetchd tries again until it stops.\(RepeatedFailures.suffix(count))")
    }
}

/// The engine stopped before the disk accepted a change. The database keeps its earlier state, and the next start
/// continues from that state.
struct NotStored: Error {}

/// The request to stop the engine. A write that the disk refuses is repeated while the engine runs, and for `stopGrace`
/// after this request.
final class StopRequest: Sendable {
    private let moment = Locked<ContinuousClock.Instant?>(nil)
    private let requested = Latch()

    private let intervals: Engine.Intervals

    init(intervals: Engine.Intervals) { self.intervals = intervals }

    var isMade: Bool { moment.withLock { $0 != nil } }

    /// Only the first request counts.
    func make() {
        moment.withLock { $0 = $0 ?? .now }
        requested.open()
    }

    /// Returns after the request was made. Cancelling the task has no effect.
    func wait() async { await requested.wait() }

    /// Waits before a failed write is repeated.
    ///
    /// - Returns: false when the write must not be repeated: the engine has been stopping for `stopGrace`, or the task
    ///   was cancelled.
    func pauseBeforeRepeating(by time: any TimeSource) async -> Bool {
        let made = moment.withLock { $0 }
        if let made, ContinuousClock.now - made >= .seconds(intervals.stopGrace) { return false }
        let pause = made == nil ? intervals.writeRetry : intervals.writeRetryWhileStopping
        do { try await time.sleep(until: time.now.addingTimeInterval(pause)) } catch { return false }
        return true
    }
}
