import Base
import Downloads
import Storage

/// The bytes that the job keeps when an attempt ends without a file.
extension Attempt {
    /// The job with the part that this attempt continues.
    var jobWithPart: Job {
        var job = job
        job.part = state.withLock { $0.continued }
        return job
    }

    /// Whether this attempt has fetched bytes that the job never had, and that the next attempt can continue. Without
    /// this condition fetchd would request a file for ever from a server that breaks every connection.
    var madeProgress: Bool {
        guard let file, file.part.fault == nil else { return false }
        return spec.canContinue(file.validators) && file.part.written.count > max(file.initialBytes, job.bytesDurable)
    }

    struct KeptPart: Sendable {
        /// The part that can be stored; nil: the job keeps its earlier part, unless that part is lost.
        var part: Part?
        /// A sync failed: written bytes are lost, and `part` is a copy of the bytes that were durable before.
        var isRolledBack = false
        /// Another program has changed the file, so none of its bytes is trusted.
        var isForeign = false
    }

    /// Syncs the bytes that the attempt has written, so that they are durable.
    func keepPart() async -> KeptPart {
        guard let file, !file.part.written.isEmpty else { return KeptPart() }
        let (folder, part) = (location.folder, file.part)
        _ = try? await part.diskQueue.run {
            try? part.trim()
            if part.isDirty || !part.isNameDurable { _ = folder.syncForCheckpoint([part]) }
        }
        guard let fault = part.fault else { return KeptPart(part: file.durablePart) }
        if fault.isForeign { return KeptPart(isForeign: true) }
        services.log.error(
            "Could not sync part \(part.id) of \(job.id): \(fault.reason). The job returns to its last checkpoint.")
        return KeptPart(part: await copyDurable(of: file), isRolledBack: true)
    }

    /// Copies the durable bytes to a new file.
    ///
    /// - Returns: nil when no bytes are durable, or when they cannot be copied.
    private func copyDurable(of file: SegmentedFile) async -> Part? {
        var copy = file.durablePart
        // An upload continues with its own part only.
        guard !copy.ranges.isEmpty, file.part.staging?.released ?? 0 == 0 else { return nil }
        copy.id = services.store.makePartID(in: location.ofParts)
        let (folder, id) = (location.folder, copy.id)
        do {
            try await file.part.diskQueue.run { try folder.copyDurable(of: file.part, to: id) }
            return copy
        } catch {
            services.log.error(
                "Could not copy the durable bytes of part \(file.part.id): \(error). The job restarts from 0.")
            return nil
        }
    }
}
