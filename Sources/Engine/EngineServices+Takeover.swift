import Downloads
import Storage

extension EngineServices {
    /// Copies the part of a job, if it belongs to another node that uses the same folder. That node may still write to its file,
    /// although it has lost the job, so no other node does. The old file is removed after the commit that promises the copy.
    ///
    /// - Parameter isStopped: called between the pieces of the copy; true ends it.
    func takeOverPart(
        of job: Job, in lane: DiskLane, isStopped: @escaping @Sendable () -> Bool
    ) async -> PartTakeover {
        guard let part = job.part, part.bytesDurable > 0, folder.use.reach(of: part.id) == .foreign else {
            return .ready(job)
        }
        var copy = part
        copy.id = store.makePartID()
        do {
            let isWhole = try await lane.run { [folder, id = copy.id] in
                try folder.copyForeign(part, to: id, isStopped: isStopped)
            }
            guard isWhole, try await promise(copy, instead: part.id, of: job) else { return .stopped }
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

    /// - Returns: false if the job is no longer this attempt's.
    private func promise(_ copy: Part, instead old: PartID, of job: Job) async throws(NotStored) -> Bool {
        let isPromised = try await persist("the copied part of \(job.id)") { [store] in
            try await store.replacePart(old, by: copy, of: job.id, attempt: job.attempts)
        }
        await removeParts([isPromised == true ? old : copy.id])
        return isPromised == true
    }
}
