import CurlClient
import Downloads
import HTTPSemantics
import Logging
import Storage

/// What the engine's rooms share: the store, the folder, the loop, the lanes.
struct EngineServices: Sendable {
    let store: Store
    let folder: DownloadsFolder
    let client: CurlClient
    let lanes: DiskLanes
    let holds = SessionHolds()
    let health = FolderHealth()
    let connections: HostConnections
    let received = ReceivedBytes()
    let stop = StopRequest()
    /// Where `rehearse:` URLs are fetched from; nil: they are not.
    let rehearsalOrigin: String?
    /// Over which a session's `minimum_bytes_per_second` is judged.
    let minimumSpeedSeconds: Double
    let time: ServiceClock
    let log: Logger

    /// What is asked of the network for a URL: itself, or what a rehearsal stands for.
    func address(of url: String) -> String {
        guard Rehearsal.isRehearsal(url), let rehearsalOrigin else { return url }
        return Rehearsal.address(of: url, at: rehearsalOrigin)
    }

    /// The file that an attempt writes to: the promised one where it is continued, else a new one. Bytes are never
    /// overwritten under a promise: a restart begins another part.
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

    /// Tells how the attempt begins; a part that could not be continued is gone afterwards, and so is `dropped`.
    func beginTransfer(
        of job: Job, _ outcome: ResumeOutcome, without dropped: PartID? = nil
    ) async throws(NotStored) {
        try await persist("the beginning of \(job.id)'s transfer") {
            try await store.beginTransfer(of: job, outcome, without: dropped)
        }
        if case .restarted = outcome, let part = job.part { folder.removePart(part.id) }
    }

    /// Writes what must be written: a full or failing disk is waited for, as giving up would lose it.
    ///
    /// - Returns: nil when the job is gone.
    /// - Throws: when the engine stops before the disk is well again. Nothing that follows from the write may be done then.
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
