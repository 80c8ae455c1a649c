import Base
import Downloads
import Formats
import Foundation
import S3Client
import Storage

/// A part whose bytes are in the bucket, or small, before its object exists.
struct PreparedObject: Sendable {
    var source: ObjectSource
    /// Relative to the location.
    var path: String
    var upload: StoredUpload
    /// Whether an earlier request may have made the object.
    var mayBeDone: Bool
}

/// Turns verified parts into objects: commit `promoting`, create the object, compare it, commit `succeeded`. Each step can be
/// repeated after a crash. The promotions do not wait for each other, because a request to a bucket can take minutes.
struct BucketFinalizer: Sendable {
    let uploads: ObjectUpload

    var services: EngineServices { uploads.services }
    var location: Location { uploads.location }
    var store: BucketStore { uploads.store }

    // MARK: Before the promotion

    /// Sends the bytes, under the first name that is free.
    ///
    /// - Throws: `FinalizeFault.occupied`; `StorageError`, `DiskError`, `NotStored`, `CancellationError`.
    func prepare(_ source: ObjectSource, as path: String, _ conflict: Destination.Conflict) async throws
        -> PreparedObject
    {
        var number = 0
        while true {
            let candidate = number == 0 ? path : FilePathRule.numbered(path: path, number)
            switch try await uploads.prepare(source, as: candidate, conflict) {
            case .ready(let upload):
                return PreparedObject(source: source, path: candidate, upload: upload, mayBeDone: false)
            case .published(let upload):
                return PreparedObject(source: source, path: candidate, upload: upload, mayBeDone: true)
            case .taken where conflict == .rename: number += 1
            case .taken: throw FinalizeFault.occupied(candidate)
            }
        }
    }

    // MARK: The promotion

    /// Returns when the object is there and the job has succeeded, or when the engine stops before that is stored.
    ///
    /// - Returns: why there is no object; nil when there is one, or when the engine stops.
    func finalize(_ request: FinalizeRequest, _ object: PreparedObject) async -> FinalizeFault? {
        let plan = request.promotion(path: object.path, mark: object.source.mark, at: services.time.now)
        guard request.place.location == location.name else { return .relocated }
        let promotion = Promotion(
            job: request.attempt.job.id, admission: request.attempt.job.admissions, plan: plan, object: object)
        return await services.stop.cancelling { await promote(promotion, request.report, isContinued: false) }
    }

    private struct Promotion {
        var job: JobID
        var admission: Int?
        var plan: FinalizePlan
        var object: PreparedObject
    }

    /// - Parameters:
    ///   - report: is committed with the plan; nil: the plan is committed already.
    ///   - isContinued: whether the promotion waits for the bucket until the service stops.
    private func promote(_ promotion: Promotion, _ report: AttemptReport?, isContinued: Bool) async -> FinalizeFault? {
        var (promotion, report) = (promotion, report)
        do {
            while true {
                if let report, let fault = try await commit(promotion, report) { return fault }
                if let object = try await publish(&promotion.object, promotion.plan.conflict, isContinued: isContinued)
                {
                    return try await succeed(promotion, object)
                }
                let path = promotion.object.path
                guard promotion.plan.conflict == .rename else { return .occupied(path) }
                promotion.object = try await prepare(promotion.object.source, as: path, .rename)
                promotion.plan.file.path = promotion.object.path
                report = AttemptReport(admission: promotion.admission)
            }
        } catch is NotStored {
            return nil
        } catch is CancellationError {
            return nil
        } catch {
            return FinalizeFault(error)
        }
    }

    private func commit(_ promotion: Promotion, _ report: AttemptReport) async throws -> FinalizeFault? {
        let outcomes = try await services.persist("the promotion of \(promotion.job)") { [store = services.store] in
            try await store.apply([(promotion.job, .finalizePlanned(promotion.plan), report)])
        }
        switch outcomes?[promotion.job] {
        case .done?, .refused?: return nil
        case .stale?: return .relocated
        case .excess(_, let limit)?: return .excess(limit)
        // The job has another attempt by now, or was deleted.
        case .superseded?, nil: throw NotStored()
        }
    }

    /// Creates the object. Asks again while the outcome is not known.
    ///
    /// - Returns: nil if another object has the key.
    private func publish(
        _ object: inout PreparedObject, _ conflict: Destination.Conflict, isContinued: Bool
    ) async throws -> StoredObject? {
        let end = services.time.now.addingTimeInterval(uploads.patience)
        while true {
            do {
                return try await uploads.publish(
                    object.upload, object.source, conflict, mayBeDone: object.mayBeDone)
            } catch let error as StorageError where error.isUploadLost {
                guard isContinued || services.time.now < end else { throw error }
                switch try await uploads.prepare(object.source, as: object.path, conflict) {
                case .ready(let upload), .published(let upload): object.upload = upload
                case .taken: return nil
                }
            } catch let error as StorageError where error.mayPass {
                guard isContinued || services.time.now < end else { throw error }
                location.health.doubt()
            }
            object.mayBeDone = true
            guard await services.stop.pauseBeforeRepeating(by: services.time) else { throw NotStored() }
        }
    }

    private func succeed(_ promotion: Promotion, _ object: StoredObject) async throws -> FinalizeFault? {
        let (store, active) = (services.store, services.active)
        let report = AttemptReport(admission: promotion.admission)
        _ = try await services.persist("the success of \(promotion.job)") {
            try await store.apply([(promotion.job, .finalized(object), report)]) { _ in
                active.end(promotion.job, admission: promotion.admission)
            }
        }
        await services.removeParts([promotion.plan.part])
        return nil
    }
}

// MARK: - Promotions that another process had begun

extension BucketFinalizer {
    /// Continues the promotions, for as long as the service runs.
    func complete(_ jobs: [AdmittedJob]) async {
        await withDiscardingTaskGroup { group in
            for admitted in jobs { group.addTask { await complete(admitted) } }
        }
    }

    private func complete(_ admitted: AdmittedJob) async {
        guard let plan = admitted.job.state.finalizePlan, let fault = await resume(plan, of: admitted.job) else {
            return
        }
        let report = AttemptReport(admission: admitted.job.admissions, hasLostPart: fault.isPartLost)
        let signal = fault.signal(
            waitsFor: admitted.spec.waitFor, at: fault.isOfBucket ? location.name : .default, services.time.now)
        _ = try? await services.persist("the end of a promotion of \(admitted.job.id)") { [store = services.store] in
            try await store.apply(signal, to: admitted.job.id, report)
        }
    }

    private func resume(_ plan: FinalizePlan, of job: Job) async -> FinalizeFault? {
        do {
            let object = try await begun(plan, of: job)
            return await promote(
                Promotion(job: job.id, admission: job.admissions, plan: plan, object: object), nil, isContinued: true)
        } catch is NotStored {
            return nil
        } catch is CancellationError {
            return nil
        } catch {
            return FinalizeFault(error)
        }
    }

    private func begun(_ plan: FinalizePlan, of job: Job) async throws -> PreparedObject {
        let stored = try await services.persist("what was begun for \(job.id)") {
            try await services.store.upload(of: job.id)
        }
        guard let mark = plan.file.mark, let upload = stored ?? nil, upload.part == plan.part else {
            throw FinalizeFault.vanished
        }
        let source = ObjectSource(
            origin: ObjectOrigin(job: job.id, part: plan.part, contentType: plan.file.contentType),
            size: plan.file.size, mark: mark, isStaged: upload.released != nil)
        return PreparedObject(source: source, path: plan.file.path, upload: upload, mayBeDone: true)
    }
}

extension FinalizeFault {
    init(_ error: any Error) {
        self =
            switch error {
            case let fault as FinalizeFault: fault
            case let error as DiskError where error.isForeign: .changed
            case let error as DiskError where error.code == ENOENT: .vanished
            case let error as DiskError: .disk(error)
            case let error as StorageError: .disk(DiskError("create the object", error))
            default: .disk(DiskError("create the object", code: EREMOTEIO, detail: "\(error)"))
            }
    }

    /// Whether the job waits for a bucket, and not for a disk.
    var isOfBucket: Bool { if case .disk(let error) = self { error.isOfBucket } else { false } }
}

extension DiskError {
    var isOfBucket: Bool { code == EREMOTEIO }
}
