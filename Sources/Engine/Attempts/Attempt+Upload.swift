import Base
import Downloads
import Foundation
import S3Client
import Storage

/// The way of a verified part into the bucket of its location, before its object exists.
extension Attempt {
    enum UploadOutcome: Sendable {
        case ready(PreparedObject)
        case stopped
        case failed(Failure, RetryPolicy.Hint)
    }

    /// nil: files of the location are in a folder.
    var bucketFinalizer: BucketFinalizer? {
        location.bucket.map { BucketFinalizer(services: services, location: location, store: $0) }
    }

    /// Why the bucket cannot take the file of this job, although it works.
    func refusal(by bucket: BucketStore, _ conflict: Destination.Conflict) -> UploadOutcome? {
        guard conflict != .replace, let refusal = bucket.refusal else { return nil }
        return .failed(refusal, RetryPolicy.Hint(isPermanent: true))
    }

    /// Sends the bytes to the bucket, until the attempt is stopped. A next attempt continues.
    func upload(_ request: FinalizeRequest, to finalizer: BucketFinalizer) async -> UploadOutcome {
        let task = Task { try await prepare(request, finalizer) }
        let registration = control.register { task.cancel() }
        defer { control.unregister(registration) }
        do {
            return try await task.value
        } catch is CancellationError {
            return .stopped
        } catch is NotStored {
            return .stopped
        } catch {
            guard !control.isStopping else { return .stopped }
            return fault(FinalizeFault(error))
        }
    }

    private func prepare(_ request: FinalizeRequest, _ finalizer: BucketFinalizer) async throws -> UploadOutcome {
        let place = request.place
        guard place.location == location.name else { return .stopped }
        try await finalizer.store.learnConditions()
        if let refusal = refusal(by: finalizer.store, place.conflict) { return refusal }
        let (folder, part) = (location.folder, request.file.part)
        let mark = try await part.diskQueue.run {
            if let error = folder.syncForCheckpoint([part])[0] { throw error }
            return try part.mark()
        }
        try await storePart(request.file)
        let source = ObjectSource(
            job: job.id, part: part.id, size: request.complete.size, contentType: request.file.label.contentType,
            mark: mark)
        let name = request.filename(at: services.time.now)
        let path = place.directory.isEmpty ? name : "\(place.directory)/\(name)"
        return .ready(try await finalizer.prepare(source, as: path, place.conflict))
    }

    /// Stores that the part is complete, so that no crash costs its bytes while they are sent.
    private func storePart(_ file: SegmentedFile) async throws {
        let stored = (job: job.id, admission: job.admissions, part: file.durablePart)
        try await services.persist("the part of \(job.id)") { [services, control, job] in
            try await services.store.checkpoint([stored], received: [job.id: control.transferred])
        }
        control.recordCheckpoint(of: stored.part)
    }

    private func fault(_ fault: FinalizeFault) -> UploadOutcome {
        if fault.isOfBucket { state.withLock { $0.hasBucketFailed = true } }
        if fault.isPartLost { file?.part.fail(DiskError("send the part", code: ESTALE)) }
        return .failed(fault.failure, RetryPolicy.Hint())
    }

    /// The location whose disk, or bucket, a job waits for after this attempt. The parts of objects are in the downloads folder.
    var locationAtFault: Name {
        location.bucket == nil || state.withLock(\.hasBucketFailed) ? place.location : .default
    }
}
