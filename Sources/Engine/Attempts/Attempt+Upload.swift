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
        location.bucket.map {
            BucketFinalizer(
                uploads: ObjectUpload(
                    services: services, location: location, store: $0, patience: spec.requestSeconds))
        }
    }

    /// Why the bucket cannot take the file of this job, although it works.
    func refusal(by bucket: BucketStore, _ conflict: Destination.Conflict) -> UploadOutcome? {
        guard conflict != .replace, let refusal = bucket.refusal else { return nil }
        return .failed(refusal, RetryPolicy.Hint(isPermanent: true))
    }

    /// Sends the bytes to the bucket, until the attempt is stopped. A next attempt continues.
    func upload(_ request: FinalizeRequest, to finalizer: BucketFinalizer) async -> UploadOutcome {
        do {
            return try await untilStopped { [self] in try await prepare(request, finalizer) }
        } catch {
            return end(of: error)
        }
    }

    /// Does work that a stop of the attempt cancels.
    func untilStopped<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let task = Task { try await work() }
        let registration = control.register { task.cancel() }
        defer { control.unregister(registration) }
        return try await task.value
    }

    /// How an attempt ends whose work for the bucket has thrown an error.
    func end(of error: any Error) -> UploadOutcome {
        if error is CancellationError || error is NotStored || control.isStopping { return .stopped }
        // The next attempt goes to the other location.
        if case FinalizeFault.relocated = error { return .stopped }
        return fault(FinalizeFault(error))
    }

    private func prepare(_ request: FinalizeRequest, _ finalizer: BucketFinalizer) async throws -> UploadOutcome {
        let place = request.place
        guard place.location == location.name else { return .stopped }
        try await finalizer.store.learnConditions()
        if let refusal = refusal(by: finalizer.store, place.conflict) { return refusal }
        let staged = request.file.part.staging?.object
        if let staged {
            let wanted = objectPath(of: request.file, at: place, at: staged.upload.begunAt)
            guard finalizer.uploads.isName(staged.upload.key, of: wanted, place.conflict) else {
                return fault(.uploadLost)
            }
        }
        let (folder, part) = (location.folder, request.file.part)
        let mark = try await part.diskQueue.run {
            if let error = folder.syncForCheckpoint([part])[0] { throw error }
            return try part.mark()
        }
        try await storePart(request.file)
        let source = ObjectSource(
            origin: ObjectOrigin(job: job.id, part: part.id, contentType: request.file.label.contentType),
            size: request.complete.size, mark: mark, isStaged: staged != nil)
        if let staged {
            let path = finalizer.store.path(of: staged.upload)
            return .ready(PreparedObject(source: source, path: path, upload: staged.upload, mayBeDone: false))
        }
        let path = objectPath(of: request.file, at: place, at: services.time.now)
        return .ready(try await finalizer.prepare(source, as: path, place.conflict))
    }

    /// Relative to the location.
    func objectPath(of file: SegmentedFile, at place: DestinationRule, at now: Date) -> String {
        let name = filename(of: file, at: place, at: now)
        return place.directory.isEmpty ? name : "\(place.directory)/\(name)"
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
