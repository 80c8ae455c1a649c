import Downloads
import HTTPSemantics
import Storage

/// An action on many jobs.
public enum ActionOnMany: Sendable {
    case signal(JobSignal)
    /// Changes the named fields of specifications. The function makes the new specification, or refuses the job.
    case change(Set<PatchableField>, by: @Sendable (JobSpec) -> Result<JobSpec, any Error>)
    case move(QueueTarget)
    /// Outstanding jobs are cancelled first, and running ones stopped.
    case remove(deletesFiles: Bool)
}

/// The actions on many jobs, in steps, so that other requests do not wait for the end.
extension Engine {
    /// Carries out an action, and stores what was done in the audit log. When it returns, the action has taken effect:
    /// running jobs are stopped, and their bytes are synced.
    ///
    /// - Parameter answer: makes the response from the counts of all steps.
    /// - Throws: the earlier steps are carried out then. `EngineError.stopped`; `StoreError`.
    public func perform(
        _ action: ActionOnMany, on selection: JobSelection, visible: VisibleSessions, _ record: ActionRecord,
        once claim: IdempotencyClaim?, answer: (ActionRecord) -> IdempotentResponse
    ) async throws -> IdempotentResponse {
        var record = record
        switch action {
        case .signal(let signal): try await send(signal, to: selection, visible, &record)
        case .change(let fields, let patch):
            try await forEachStep(of: selection, visible, &record) { jobs, record in
                record = try await services.store.change(jobs.map(\.id), in: selection, fields, record, by: patch) {
                    [active] in
                    for job in $0 { active[job.id]?.control.apply(job.spec) }
                }
            }
        case .move(let target): try await move(selection, visible, to: target, &record)
        case .remove(let deletesFiles):
            try await forEachStep(of: selection, visible, &record) { jobs, record in
                try await remove(jobs, in: selection, deletesFiles: deletesFiles, &record)
            }
        }
        return try await services.store.conclude(record, once: claim, answer: answer(record))
    }

    private func forEachStep(
        of selection: JobSelection, _ visible: VisibleSessions, _ record: inout ActionRecord,
        _ body: ([Job], inout ActionRecord) async throws -> Void
    ) async throws {
        var rest: JobSelection? = selection
        while let selection = rest {
            guard !isStopping else { throw EngineError.stopped }
            let step = try await services.store.jobs(in: selection, visible: visible)
            for id in step.missing { record.refuse(id, StoreError.noSuchJob(id)) }
            if !step.jobs.isEmpty { try await body(step.jobs, &record) }
            rest = step.rest
        }
    }

    /// A signal that stops jobs reaches the running ones last. Otherwise queued jobs would start in the freed slots, only to be
    /// stopped, too.
    private func send(
        _ signal: JobSignal, to selection: JobSelection, _ visible: VisibleSessions, _ record: inout ActionRecord
    ) async throws {
        var running: [JobID] = []
        try await forEachStep(of: selection, visible, &record) { jobs, record in
            let later = signal.stopsAttempts ? jobs.filter { $0.state.name == .running }.map(\.id) : []
            running += later
            let now = later.isEmpty ? jobs : jobs.filter { $0.state.name != .running }
            try await send(signal, to: now.map(\.id), in: selection, &record)
        }
        for start in stride(from: 0, to: running.count, by: Self.runningInAStep) {
            let step = running[start..<min(start + Self.runningInAStep, running.count)]
            try await send(signal, to: Array(step), in: selection, &record)
        }
    }

    private static let runningInAStep = 1000

    private func send(
        _ signal: JobSignal, to jobs: [JobID], in selection: JobSelection, _ record: inout ActionRecord
    ) async throws {
        let step = try await services.store.apply(signal, to: jobs, in: selection, record) { [active] in
            active.requestStop(asDecided: $0)
        }
        record = step.record
        await services.removeParts(step.dropped)
        if signal.asksForRequest { services.gates.probe(Set(step.queued.map { URLRule.hostAndPort(of: $0.url) })) }
        for job in step.stopping {
            do {
                let outcome = try await perform(signal, on: job)
                if case .refused(let job, let allowed) = outcome {
                    record.refuse(job.id, SignalRefusal(job: job, allowed: allowed))
                } else {
                    record.counts.changed += 1
                }
            } catch StoreError.noSuchJob {
                // It was the last job of a deleted session, or another client has deleted it.
                record.counts.changed += 1
            }
        }
    }

    private func move(
        _ selection: JobSelection, _ visible: VisibleSessions, to target: QueueTarget, _ record: inout ActionRecord
    ) async throws {
        var queues: [JobQueueKey: [(id: JobID, rank: QueueRank)]] = [:]
        var order: [JobQueueKey] = []
        try await forEachStep(of: selection, visible, &record) { jobs, record in
            record.counts.matched += jobs.count
            for job in jobs {
                guard job.state.isInQueue else {
                    record.refuse(job.id, StoreError.moveRefused(job))
                    continue
                }
                let key = JobQueueKey(session: job.session, priority: job.rank)
                if queues[key] == nil { order.append(key) }
                queues[key, default: []].append((job.id, job.effectiveQueueRank))
            }
        }
        for key in order {
            var jobs = queues[key] ?? []
            if case .matching = selection { jobs.sort { $0.rank < $1.rank } }
            try await move(jobs.map(\.id), in: key, to: target, &record)
        }
    }

    private func move(
        _ jobs: [JobID], in key: JobQueueKey, to target: QueueTarget, _ record: inout ActionRecord
    ) async throws {
        let place =
            switch target {
            case .place(let place): place
            case .index(let index):
                try await services.store.place(at: index, in: key.session, key.priority, without: Set(jobs))
            }
        var move = JobMove(jobs, to: place)
        while case let step = move.next(), !step.isEmpty {
            guard !isStopping else { throw EngineError.stopped }
            record = try await services.store.move(step, to: place, record)
        }
    }

    private func remove(
        _ jobs: [Job], in selection: JobSelection, deletesFiles: Bool, _ record: inout ActionRecord
    ) async throws {
        // The files come first: if fetchd dies before the commit, the jobs are still there, and no file is forgotten.
        let files = deletesFiles ? try await removeFiles(of: jobs) : RemovedFiles()
        for (job, error) in files.failed { record.refuse(job, error) }
        record.counts.matched += files.failed.count
        let use = services.locations.use
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
        var removed: Set<JobID> = []
        var failed: [JobID: DiskError] = [:]
    }

    private func removeFiles(of jobs: [Job]) async throws -> RemovedFiles {
        var files = RemovedFiles()
        let finished = jobs.filter { $0.state.finish != nil && services.locations.use.hasFile(of: $0) }
        for start in stride(from: 0, to: finished.count, by: Self.filesInASlice) {
            let slice = finished[start..<min(start + Self.filesInASlice, finished.count)]
            // Directly before the removal: another client that has deleted a job may have kept its file.
            let present = try await services.store.jobs(in: .jobs(slice.map(\.id)), visible: .all).jobs
            for (job, error) in await services.removeFiles(of: present) {
                if let error { files.failed[job] = error } else { files.removed.insert(job) }
            }
        }
        return files
    }

    private static let filesInASlice = 100
}

/// The jobs among which a job has its place in the queue.
private struct JobQueueKey: Hashable {
    let session: Name
    let priority: Int
}
