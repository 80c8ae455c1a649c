import CurlClient
import Descriptors
import Downloads
import HTTPSemantics
import Logging
import Storage

/// The values that the parts of the engine share: the store, the downloads folder, the transfer client, the disk lanes.
struct EngineServices: Sendable {
    let store: Store
    let folder: DownloadsFolder
    let client: CurlClient
    let lanes: DiskLanes
    let leases = SessionLeases()
    let health = FolderHealth()
    let connections: HostConnections
    let received = ReceivedBytes()
    let stop: StopRequest
    /// Where `rehearse:` URLs are fetched from; nil: they are not.
    let rehearsalOrigin: String?
    /// Seconds over which a session's `minimum_bytes_per_second` is judged.
    let minimumSpeedSeconds: Double
    let time: ServiceClock
    let log: Logger

    /// The file that an attempt writes to: the promised part that the attempt continues, else a new part. fetchd never
    /// overwrites promised bytes: a restart begins another part.
    func partFile(
        continuing continued: (part: Part, file: Descriptor)?, digesting algorithms: Set<Checksum.Algorithm>,
        _ lane: DiskLane
    ) -> PartFile {
        if let (part, file) = continued {
            return PartFile(part.id, having: part.ranges, digesting: algorithms, lane: lane, in: folder) {
                file
            }
        }
        let id = store.makePartID()
        return PartFile(id, digesting: algorithms, lane: lane, in: folder) { [folder] () throws(DiskError) in
            try folder.makePart(id)
        }
    }

    /// Commits how the transfer of an attempt begins. Removes `dropped`, and the job's part where the transfer restarts.
    func beginTransfer(
        of job: Job, _ outcome: ResumeOutcome, without dropped: PartID? = nil
    ) async throws(NotStored) {
        try await persist("the beginning of \(job.id)'s transfer") {
            try await store.beginTransfer(of: job, outcome, without: dropped)
        }
        if case .restarted = outcome, let part = job.part { await removeParts([part.id]) }
    }

    /// Removes the files of parts that are not promised any more.
    func removeParts(_ parts: [PartID]) async {
        guard !parts.isEmpty else { return }
        try? await lanes.metadata.run { [folder] in
            for part in parts { folder.removePart(part) }
        }
    }

    /// Repeats a write until it succeeds: giving up on a full or failing disk would lose it.
    ///
    /// - Returns: nil when the job is gone.
    /// - Throws: `NotStored` when the engine stops before the write succeeds. The caller must not do what follows from the
    ///   write then.
    @discardableResult
    func persist<Value: Sendable>(
        _ what: String, _ write: @Sendable () async throws -> Value
    ) async throws(NotStored) -> Value? {
        while true {
            do {
                return try await write()
            } catch StoreError.noSuchJob {
                return nil
            } catch {
                log.error("Could not store \(what): \(error) fetchd tries again until it stops.")
            }
            guard await stop.pauseBeforeRepeating(by: time) else {
                log.error("fetchd stops and gives up storing \(what).")
                store.unstored.note()
                throw NotStored()
            }
        }
    }
}
