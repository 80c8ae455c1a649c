import Base
import CLinux
import Downloads
import Glibc
import Storage

extension EngineServices {
    /// Copies the part of a job, if it belongs to another node that uses the same folder. That node may still write to its file,
    /// although it has lost the job, so no other node does. Copies it also if the job's location has changed. The old file is removed
    /// after the commit that stores the copy.
    ///
    /// - Parameter isStopped: called between the pieces of the copy; true ends it. The copy is then removed.
    func takeOverPart(
        of job: Job, to location: Location, in diskQueue: DiskQueue, isStopped: @escaping @Sendable () -> Bool
    ) async -> PartTakeover {
        guard var part = job.part, part.bytesDurable > 0 else { return .ready(job) }
        switch locations.use.holder(of: part.id) {
        case .own where part.id.location == location.ofParts: return .ready(job)
        case .elsewhere where part.released ?? 0 == 0: return .ready(job)
        // Only the bucket has the bytes that this service can use.
        case .elsewhere: part.ranges = ByteRanges(prefix: part.released ?? 0)
        case .own, .foreign: break
        }
        guard let source = locations[part.id.location] else {
            return .failed(DiskError.undeclared(part.id.location).failure)
        }
        var copy = part
        copy.id = store.makePartID(in: location.ofParts)
        let folders = (source: source.folder, target: location.folder)
        do {
            guard try await self.copy(part, folders, to: copy.id, in: diskQueue, isStopped: isStopped),
                try await replacePart(part.id, by: copy, of: job)
            else { return .stopped }
        } catch is DownloadsFolder.PartLoss {
            // The request plan finds no bytes either, and reports that.
            return .ready(job)
        } catch let error as DiskError {
            return .failed(error.failure)
        } catch {
            return .stopped
        }
        var job = job
        job.part = copy
        return .ready(job)
    }

    /// Copies piece by piece, because the disk queue also syncs the parts of other jobs.
    ///
    /// - Returns: false if the copy was stopped.
    private func copy(
        _ part: Part, _ folders: (source: DownloadsFolder, target: DownloadsFolder), to id: PartID,
        in diskQueue: DiskQueue, isStopped: @Sendable () -> Bool
    ) async throws -> Bool {
        let copying = try await diskQueue.run { try folders.target.beginCopy(of: part, in: folders.source, to: id) }
        do {
            for piece in copying.pieces where !isStopped() {
                try await diskQueue.run { try folders.target.copy(piece, of: copying) }
            }
            if !isStopped() {
                try await diskQueue.run { try folders.target.finish(copying) }
                return true
            }
            await removeParts([id])
            return false
        } catch {
            await removeParts([id])
            throw error
        }
    }

    /// - Returns: false if the job is no longer this attempt's.
    private func replacePart(_ old: PartID, by copy: Part, of job: Job) async throws(NotStored) -> Bool {
        let isStored = try await persist("the copied part of \(job.id)") { [store] in
            try await store.replacePart(old, by: copy, of: job.id, admission: job.admissions)
        }
        await removeParts([isStored == true ? old : copy.id])
        return isStored == true
    }
}

/// The result of copying the part of another node, at the beginning of an attempt.
enum PartTakeover: Sendable {
    /// The job, as the attempt continues it.
    case ready(Job)
    /// The bytes could not be copied.
    case failed(Failure)
    /// The attempt has to stop, or the job belongs to another node.
    case stopped
}

/// A copy of another node's part that is under way.
struct PartCopy: Sendable {
    let source: Descriptor
    let copy: Descriptor
    /// Ranges of at most 64 MiB each, so that a disk queue can do other work in between.
    let pieces: [Range<Int64>]
}

extension DownloadsFolder {
    /// Begins to copy the stored bytes of a part of another node, or of another location, to a new part file.
    ///
    /// - Throws: `PartLoss`; `DiskError` when the new file cannot be made.
    func beginCopy(of part: Part, in folder: DownloadsFolder, to id: PartID) throws -> PartCopy {
        guard !part.onDisk.isEmpty else {
            let copy = try makePart(id)
            return PartCopy(source: copy, copy: copy, pieces: [])
        }
        let source = try folder.openForeign(part)
        let status = try source.status()
        guard status.st_size >= part.onDisk.end else { throw PartLoss.shorterThanRecorded }
        return PartCopy(source: source, copy: try makePart(id), pieces: part.onDisk.ranges.flatMap(Self.pieces))
    }

    /// Copies a piece. Blocks on the disk meanwhile. The file system shares the blocks if it can.
    func copy(_ piece: Range<Int64>, of copying: PartCopy) throws(DiskError) {
        try Self.clone(piece, from: copying.source, to: copying.copy)
    }

    /// Makes the copied bytes and the name of the new file durable. Blocks on the disk meanwhile.
    func finish(_ copying: PartCopy) throws(DiskError) {
        try copying.copy.syncData()
        try parts.sync()
    }

    /// - Throws: `PartLoss.missing` only if there is no such file. A network file system can fail for a moment.
    private func openForeign(_ part: Part) throws -> Descriptor {
        do {
            return try openFile(of: part.id, to: "open the part")
        } catch let error where [ENOENT, ELOOP, ESTALE].contains(error.code) {
            throw PartLoss.missing
        }
    }

    static func pieces(of range: Range<Int64>) -> [Range<Int64>] {
        stride(from: range.lowerBound, to: range.upperBound, by: 64 << 20).map {
            $0..<min($0 + (64 << 20), range.upperBound)
        }
    }

    static func clone(_ range: Range<Int64>, from source: Descriptor, to copy: Descriptor) throws(DiskError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = linux_copy_range(source.number, copy.number, offset, Int(range.upperBound - offset))
            // Not every file system can do it. What is wrong otherwise shows when the bytes are read and written.
            guard count > 0 else { return try Self.copy(offset..<range.upperBound, from: source, to: copy) }
            offset += Int64(count)
        }
    }
}
