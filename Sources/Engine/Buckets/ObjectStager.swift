import Base
import Downloads
import Foundation
import HTTPSemantics
import S3Client
import Storage

/// Sends the parts of one file in order of their numbers, some at the same time.
struct ObjectStager: Sendable {
    let attempt: Attempt
    let file: SegmentedFile
    let staging: ObjectStaging
    let uploads: ObjectUpload
    /// What the bucket has of the continued part; nil: the file begins with this attempt, or none of its bytes has left the disk.
    let before: StoredUpload.Released?

    /// What has been read, and what the bucket has of it.
    private struct Progress {
        var upload: StoredUpload?
        /// Of the bytes before `offset`.
        var digests: StorableDigests
        /// Of the next byte to read.
        var offset: Int64
        /// The digests at the end of each part that has been read and not released.
        var states: [Int64: [String: String]] = [:]
        /// Those that the bucket has of the bytes before `offset`.
        var pieces: [Int: StoredUpload.Piece] = [:]
        /// Those that it has of an earlier attempt.
        var known: [Int: StoredUpload.Piece] = [:]
        var running = 0
    }

    /// - Returns: nil if the transfer ended before the file did, or if the file is one part.
    func run() async throws -> StagedObject? {
        let sent = Locked<[Result<StoredUpload.Piece, any Error>]>([])
        return try await withThrowingDiscardingTaskGroup { group in
            var progress = try begin()
            while true {
                for piece in sent.withLock({ $0.takeAll() }) { try await keep(try piece.get(), &progress) }
                while progress.running < uploads.store.connections, let range = next(progress) {
                    let send = try await read(range, &progress)
                    progress.running += 1
                    group.addTask {
                        let piece: Result<StoredUpload.Piece, any Error>
                        do {
                            piece = .success(try await send())
                        } catch {
                            piece = .failure(error)
                        }
                        sent.withLock { $0.append(piece) }
                        staging.changed.set()
                    }
                }
                if progress.running == 0, staging.isTransferOver { return try await end(&progress) }
                await staging.changed.wait()
                try Task.checkCancellation()
            }
        }
    }

    private func begin() throws -> Progress {
        let digests =
            before.map { StorableDigests(stored: $0.digests) }
            ?? StorableDigests(attempt.spec.algorithms(file.label))
        // A job can get another checksum, and a response another digest.
        guard let digests, attempt.spec.algorithms(file.label).isSubset(of: digests.algorithms) else {
            throw FinalizeFault.uploadLost
        }
        return Progress(digests: digests, offset: staging.released)
    }

    /// The bytes that can be sent next: a whole part, or the end of the file.
    private func next(_ progress: Progress) -> Range<Int64>? {
        let (start, end) = (progress.offset, file.part.written.prefix)
        if end - start >= staging.partSize { return start..<start + staging.partSize }
        let isEnd = staging.isTransferOver && file.isComplete && end > max(start, staging.partSize)
        return isEnd ? start..<end : nil
    }

    /// Reads a part, and computes its digest and those of the file.
    ///
    /// - Returns: the request that sends it.
    private func read(
        _ range: Range<Int64>, _ progress: inout Progress
    ) async throws -> @Sendable () async throws -> StoredUpload.Piece {
        let upload = if let upload = progress.upload { upload } else { try await open(&progress) }
        let (part, queue) = (file.part, attempt.location.diskQueues.next())
        var (hash, digests) = (RunningHash(.sha256), progress.digests)
        // Piece by piece, because the disk queue also syncs the parts of other jobs.
        for slice in DownloadsFolder.pieces(of: range) {
            (hash, digests) = try await queue.run { [hash, digests] in
                var (hash, digests) = (hash, digests)
                if let fault = part.fault { throw fault }
                try part.file.read(slice) { bytes in
                    hash.update(bytes)
                    digests.update(bytes)
                }
                return (hash, digests)
            }
        }
        let number = Int(range.lowerBound / staging.partSize) + 1
        progress.digests = digests
        progress.offset = range.upperBound
        progress.states[range.upperBound] = digests.stored
        let body = attempt.location.folder.entry(of: part.id).payload(range, sha256: hash.digest)
        return { [uploads, known = progress.known[number]] in
            try await uploads.send(number, body, range, of: upload, unless: known)
        }
    }

    private func open(_ progress: inout Progress) async throws -> StoredUpload {
        let place = attempt.place
        guard place.location == attempt.location.name else { throw FinalizeFault.relocated }
        let origin = ObjectOrigin(
            job: attempt.job.id, part: file.part.id, contentType: file.label.contentType)
        let upload = try await uploads.open(
            origin, as: { attempt.objectPath(of: file, at: place, at: $0) }, place.conflict,
            partSize: staging.partSize, released: staging.released)
        progress.upload = upload
        progress.known = Dictionary(uniqueKeysWithValues: upload.pieces.map { ($0.number, $0) })
        // The last part is smaller than the others.
        progress.pieces = progress.known.filter { Int64($0.key - 1) * staging.partSize < staging.released }
        return upload
    }

    /// Stores that the bucket has a part, and gives the place of the first bytes back that need none any more.
    private func keep(_ piece: StoredUpload.Piece, _ progress: inout Progress) async throws {
        progress.running -= 1
        progress.pieces[piece.number] = piece
        guard let upload = progress.upload else { return }
        var end = staging.released
        while end < progress.offset, progress.pieces[Int(end / staging.partSize) + 1] != nil {
            end = min(end + staging.partSize, progress.offset)
        }
        let released =
            end > staging.released ? progress.states[end].map { StoredUpload.Released(count: end, digests: $0) } : nil
        let isKept = try await attempt.services.persist("a part of the upload of \(upload.job)") {
            [store = attempt.services.store, admission = attempt.job.admissions] in
            try await store.note(piece, of: upload, releasing: released, admission: admission)
        }
        guard isKept == true else { throw CancellationError() }
        guard let released else { return }
        progress.states = progress.states.filter { $0.key > released.count }
        let part = file.part
        try await part.diskQueue.run { try part.release(upTo: released.count) }
        staging.advance(to: released.count)
    }

    private func end(_ progress: inout Progress) async throws -> StagedObject? {
        // Of an empty file, nothing was sent, although all of it is there.
        guard file.isComplete, progress.offset > 0, progress.offset == file.part.written.end else { return nil }
        // An earlier attempt may have sent all bytes.
        var upload = if let upload = progress.upload { upload } else { try await open(&progress) }
        upload.pieces = progress.pieces.values.sorted { $0.number < $1.number }
        let count = ObjectParts(size: progress.offset, partSize: staging.partSize).count
        guard upload.pieces.map(\.number) == Array(1...count) else { throw FinalizeFault.uploadLost }
        return StagedObject(upload: upload, digests: progress.digests.hexadecimal)
    }
}

extension Array {
    fileprivate mutating func takeAll() -> [Element] {
        defer { self = [] }
        return self
    }
}
