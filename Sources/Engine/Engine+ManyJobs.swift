import Downloads
import Storage

/// The actions on many jobs, in steps, so that other requests do not wait for the end.
extension Engine {
    /// Deletes the selected jobs. Outstanding ones are cancelled first, and running ones stopped.
    ///
    /// - Parameters:
    ///   - visible: jobs of other sessions are not selected.
    ///   - deletesFiles: whether the finished files are removed, too.
    ///   - record: of the request.
    /// - Returns: the record with the counts of all steps.
    /// - Throws: the jobs of earlier steps are deleted then. `EngineError.stopped`; `StoreError`.
    public func remove(
        _ selection: JobSelection, visible: VisibleSessions, deletesFiles: Bool, _ record: ActionRecord
    ) async throws -> ActionRecord {
        var (record, rest): (ActionRecord, JobSelection?) = (record, selection)
        while let selection = rest {
            guard !isStopping else { throw EngineError.stopped }
            let step = try await services.store.jobs(in: selection, visible: visible)
            for id in step.missing { record.refuse(id, StoreError.noSuchJob(id)) }
            if !step.jobs.isEmpty {
                try await remove(step.jobs, in: selection, deletesFiles: deletesFiles, &record)
            }
            rest = step.rest
        }
        return record
    }

    private func remove(
        _ jobs: [Job], in selection: JobSelection, deletesFiles: Bool, _ record: inout ActionRecord
    ) async throws {
        // The files come first: if fetchd dies before the commit, the jobs are still there, and no file is forgotten.
        let files = deletesFiles ? try await removeFiles(of: jobs) : RemovedFiles()
        for (job, error) in files.failed { record.refuse(job, error) }
        record.counts.matched += files.failed.count
        let use = services.folder.use
        let removed = try await services.store.removeJobs(
            jobs.map(\.id).filter { files.failed[$0] == nil }, in: selection,
            removingFilesElsewhere: deletesFiles && use.hasOwnFolder,
            keeping: { job in
                // It has succeeded since its file was looked for.
                deletesFiles && job.state.finish != nil && use.hasFile(of: job) && !files.removed.contains(job.id)
            }, record
        ) { [active] in
            active.requestStop(asDecided: $0)
        }
        record = removed.record
        await services.removeParts(removed.dropped + removed.jobs.compactMap { $0.part?.id })
        for job in removed.left {
            do {
                try await delete(job, deletesFile: deletesFiles)
                record.counts.changed += 1
            } catch StoreError.noSuchJob {
                // Another client has deleted it.
            } catch let error as DiskError {
                record.refuse(job, error)
            }
        }
    }

    private struct RemovedFiles: Sendable {
        /// The jobs whose files are gone.
        var removed: Set<JobID> = []
        var failed: [JobID: DiskError] = [:]
    }

    /// Removes the finished files that are in this folder.
    private func removeFiles(of jobs: [Job]) async throws -> RemovedFiles {
        var files = RemovedFiles()
        let finished = jobs.filter { $0.state.finish != nil && services.folder.use.hasFile(of: $0) }
        for start in stride(from: 0, to: finished.count, by: Self.filesInASlice) {
            let slice = finished[start..<min(start + Self.filesInASlice, finished.count)]
            // Directly before the removal: another client that has deleted a job may have kept its file.
            let present = try await services.store.jobs(in: .jobs(slice.map(\.id)), visible: .all).jobs
            let outcomes = try await services.lanes.metadata.run { [folder = services.folder] in
                present.map { job in (job: job.id, error: folder.errorOfRemoval(of: job.state.finish?.file)) }
            }
            for (job, error) in outcomes {
                if let error { files.failed[job] = error } else { files.removed.insert(job) }
            }
        }
        return files
    }

    private static let filesInASlice = 100
}

extension DownloadsFolder {
    /// Removes a finished file.
    ///
    /// - Returns: why that failed.
    fileprivate func errorOfRemoval(of file: FinishedFile?) -> DiskError? {
        guard let file else { return nil }
        do throws(DiskError) {
            try removeFile(file)
            return nil
        } catch {
            return error
        }
    }
}
