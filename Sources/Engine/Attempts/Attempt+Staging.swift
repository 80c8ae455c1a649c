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
        if let staging = file.part.staging, let bucketFinalizer { await stage(file, staging, bucketFinalizer) }
    }

    @inline(never)
    private func stage(_ file: SegmentedFile, _ staging: ObjectStaging, _ bucketFinalizer: BucketFinalizer) async {
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
