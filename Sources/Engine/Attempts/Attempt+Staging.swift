import Base
import Downloads
import Foundation
import HTTPSemantics
import S3Client
import Storage

/// The way of a file into a bucket while its bytes arrive, so that the disk needs room for a window of it only.
extension Attempt {
    /// How the file of a response goes to the bucket; nil: it stays on the disk until it is verified, or it goes to no bucket.
    ///
    /// - Parameter room: bytes that the disk has room for.
    func staging(
        continuing part: Part?, size: Int64?, _ label: FileLabel, isDecoded: Bool, room: Int64
    ) -> ObjectStaging? {
        guard location.bucket != nil else { return nil }
        let upload = part == nil ? nil : state.withLock(\.upload)
        if let upload, let released = upload.released, let partSize = upload.partSize {
            return ObjectStaging(partSize: partSize, released: released.count)
        }
        // Pieces are verified when all of them are there, and a decoded file begins from its start in each attempt.
        guard place.staging != .whole, !isDecoded, spec.pieces == nil else { return nil }
        let staging = ObjectStaging(
            partSize: upload?.partSize ?? size.map { ObjectParts(size: $0).partSize }
                ?? ObjectStaging.partSizeOfUnknown)
        if let size {
            if size <= max(staging.window, ObjectStaging.leastWindow) { return nil }
            if !spec.claims(label).isEmpty, size - (part?.bytesDurable ?? 0) <= room { return nil }
        }
        return staging
    }

    /// The job with what is known of its part: which bytes are in a bucket only.
    ///
    /// - Returns: nil if the attempt stops.
    func jobWithUpload() async -> Job? {
        var job = job
        guard let part = job.part, part.bytesDurable > 0 else { return job }
        guard
            let stored = try? await services.persist(
                "what was begun for \(job.id)", { [services, id = job.id] in try await services.store.upload(of: id) })
        else { return nil }
        job.part?.released = location.bucket == nil ? nil : 0
        guard let upload = stored, upload.part == part.id else { return job }
        let isUsable = upload.location == location.name && location.bucket != nil && !upload.isAbandoned
        if let released = upload.released {
            job.part?.released = released.count
            // A checkpoint of the same bytes can be later.
            job.part?.ranges.insert(contentsOf: 0..<released.count)
        }
        state.withLock { state in
            state.continued = job.part
            state.upload = isUsable ? upload : nil
            state.isPartOutOfReach = !isUsable && upload.released != nil
        }
        return job
    }

    /// Sends the bytes of the file until all are sent, or until the transfer is over.
    func stage(_ file: SegmentedFile) async {
        guard let staging = file.part.staging, let bucketFinalizer else { return }
        do {
            let stager = ObjectStager(
                attempt: self, file: file, staging: staging, uploads: bucketFinalizer.uploads,
                before: staging.released > 0 ? state.withLock(\.upload)?.released : nil)
            try await untilStopped { try await bucketFinalizer.store.learnConditions() }
            if let refusal = refusal(by: bucketFinalizer.store, place.conflict) {
                staging.end(.failed(refusal))
            } else {
                let object = try await untilStopped { try await stager.run() }
                return staging.end(object.map { .sent($0) } ?? .incomplete)
            }
        } catch let error as StorageError where error.isUploadLost {
            staging.end(.failed(await loss(of: bucketFinalizer.uploads, error, staging)))
        } catch {
            staging.end(.failed(end(of: error)))
        }
        file.abandon()
    }

    /// The bucket does not know the upload any more, so nothing of it can be continued.
    private func loss(of uploads: ObjectUpload, _ error: StorageError, _ staging: ObjectStaging) async -> UploadOutcome
    {
        services.log.warning(
            "The bucket has lost the upload of \(job.id): \(error.text). fetchd begins it again.", metadata: logFields)
        do {
            try await untilStopped { [job] in try await uploads.discardStored(of: job.id) }
            return end(of: staging.released > 0 ? FinalizeFault.uploadLost : error)
        } catch {
            return end(of: error)
        }
    }
}

/// Sends the parts of one file in order of their numbers, some at the same time.
private struct ObjectStager: Sendable {
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
