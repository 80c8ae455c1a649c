import Downloads
import HTTPSemantics
import Storage

extension Engine {
    /// Carries out an action, and returns after it has taken effect: a running job is stopped, its bytes are synced,
    /// and its state, offset and event are committed.
    ///
    /// - Parameter revision: the job revision that the client expects; nil: any revision.
    /// - Throws: `StoreError.noSuchJob`, `revisionChanged`.
    public func perform(_ request: JobSignal, on id: JobID, expecting revision: Int? = nil) async throws
        -> SignalOutcome
    {
        // This keeps a deleted session, and with it the job, until the action has ended, unless another process closes it.
        try await holding(try await services.store.job(id).session) {
            var (revision, stopping): (Int?, Job?) = (revision, nil)
            while true {
                let outcome: SignalOutcome
                do {
                    outcome = try await services.store.apply(request, to: id, expecting: revision) { [active] outcome in
                        active.requestStop(asDecided: outcome)
                    }
                } catch StoreError.noSuchJob {
                    guard let stopping else { throw StoreError.noSuchJob(id) }
                    return try await cancellation(of: stopping, by: request)
                }
                guard case .done(let job, let effects, let dropped) = outcome else { return outcome }
                if let dropped { await services.removeParts([dropped]) }
                if request.asksForRequest { services.gates.probe([URLRule.hostAndPort(of: job.url)]) }
                guard effects.contains(where: \.isStop) else { return outcome }
                (revision, stopping) = (nil, job)
                // After the attempt has ended, the signal is sent again, because the job may have succeeded at that moment.
                try await attemptEnds(of: job)
            }
        }
    }

    /// The outcome for a job that was stopped and is gone: when the last job of a deleted session has ended, the session is
    /// removed with its jobs.
    ///
    /// - Throws: `noSuchJob` if the job was not cancelled, or if a client has deleted it.
    private func cancellation(of job: Job, by request: JobSignal) async throws -> SignalOutcome {
        let events = try await services.store.events(EventQuery(job: job.id, limit: 1000)).events
        guard case .cancelRequested(let keepsPart) = request, let last = events.last, last.type == .jobCancelled else {
            throw StoreError.noSuchJob(job.id)
        }
        let signal = JobSignal.attemptStopped(.cancel(keepsPart: keepsPart))
        return .done(job.becoming(.cancelled, on: signal, at: last.time), then: [])
    }

    /// Changes the specification of a job, again if another request changes the job meanwhile. A running attempt applies
    /// the fields that it can, such as the rate limit.
    ///
    /// - Parameter change: returns the specification and its changed fields; nil: nothing changes.
    /// - Throws: `StoreError.noSuchJob`, `revisionChanged`, `fieldsFixed`, and the errors of `change`.
    public func patch(
        _ job: Job, expecting revision: Int? = nil,
        _ change: (Job) throws -> (spec: JobSpec, fields: Set<PatchableField>)?
    ) async throws -> Job {
        var job = job
        while let (spec, fields) = try change(job) {
            let outcome = try await services.store.patchJob(
                job.id, from: job.spec, to: spec, fields: fields, expecting: revision
            ) { [active] outcome in
                if let job = outcome?.job { active[job.id]?.control.apply(job.spec) }
            }
            if let outcome { return outcome.job }
            job = try await services.store.storedJob(job.id)
        }
        return job
    }

    /// Deletes a job. An outstanding job is cancelled first.
    public func delete(_ id: JobID, deletesFile: Bool) async throws {
        var (wasOutstanding, wasCancelled) = (false, false)
        do {
            while try await !deleteIfEnded(id, deletesFile: deletesFile) {
                wasOutstanding = true
                let job = try await perform(.cancelRequested(keepsPart: false), on: id).job
                wasCancelled = job.state == .cancelled
                // The cancellation came too late: the file is being promoted, which takes a moment.
                if !job.state.isTerminal { try await attemptEnds(of: job) }
            }
        } catch StoreError.noSuchJob where wasCancelled || wasOutstanding && !deletesFile {
            // It has ended, and its session was removed, or another client has deleted it. Such a job has left its file, if
            // it had one.
        }
    }

    /// Deletes a job that has ended. It never cancels one, so a job that was retried meanwhile stays.
    ///
    /// - Returns: false if the job is outstanding. Nothing has changed then.
    /// - Throws: `StoreError.noSuchJob`; `EngineError.fileOutOfReach` if its file cannot be removed. Nothing has changed then.
    public func deleteIfEnded(_ id: JobID, deletesFile: Bool) async throws -> Bool {
        if deletesFile {
            let job = try await services.store.job(id)
            try requireReach(ofFileOf: job)
            try await removeObject(of: job)
        }
        let hasOwnFolder = services.locations.use.hasOwnFolder
        let deleted = try await services.store.deleteJob(id, removingFileElsewhere: deletesFile && hasOwnFolder)
        guard let job = deleted else { return false }
        if let part = job.part { await services.removeParts([part.id]) }
        if deletesFile, services.locations.use.hasFile(of: job), let file = job.state.finish?.file, file.object == nil {
            _ = try await services.location(of: file).removeFile(file)
        }
        return true
    }

    /// A request to a bucket can fail, so it comes before the job is deleted.
    private func removeObject(of job: Job) async throws {
        guard let file = job.state.finish?.file, file.object != nil else { return }
        do {
            _ = try await services.location(of: file).removeFile(file)
        } catch let error as DiskError {
            throw EngineError.bucketUnusable(file.location ?? .default, why: error.reason)
        }
    }

    private func requireReach(ofFileOf job: Job) throws(EngineError) {
        guard let file = job.state.finish?.file, services.locations.use.hasFile(of: job) else { return }
        let name = file.location ?? .default
        guard let location = services.locations[name] else { throw .fileOutOfReach(name, isDeclared: false) }
        guard location.health.fault == nil else { throw .fileOutOfReach(name, isDeclared: true) }
    }

    /// Waits until the job's attempt has ended, or for about a second if it has no attempt here.
    ///
    /// - Throws: `EngineError.stopped` when the attempt has ended, but its end could not be stored; `CancellationError`.
    private func attemptEnds(of job: Job) async throws {
        if let attempt = active[job.id] { return await attempt.control.ended.wait() }
        // The end of the attempt could not be stored, so the database shows the job as running until the next start.
        if !services.isElsewhere(job), services.store.unstored.count > 0 { throw EngineError.stopped }
        // Another service has the attempt, this one continues a promotion of another one, or the attempt has just ended.
        try await services.store.waitForChange(of: job)
    }

    /// - Returns: nil if the file is no longer in its place.
    public func openFile(of finish: JobResult) async -> OpenedFile? {
        try? await services.location(of: finish.file).inFolder { $0.openFile(finish.file) }
    }

    /// The finished files among these that are no longer in their locations, or that other files have replaced.
    public func missing(of files: [FinishedFile]) async throws -> Set<Int> {
        var missing: Set<Int> = []
        for (name, indices) in Dictionary(grouping: files.indices, by: { files[$0].location ?? .default }) {
            missing.formUnion(try await services.locations[name]?.missing(of: files, indices) ?? Array(indices))
        }
        return missing
    }
}

extension ActiveAttempts {
    /// Called in a commit's hook. There, the active attempt is the one that the database shows as running.
    func requestStop(asDecided outcome: SignalOutcome) {
        guard case .done(let job, let effects, _) = outcome else { return }
        for case .stopAttempt(let stop) in effects { self[job.id]?.control.requestStop(.decided(stop)) }
    }
}

extension JobSignal {
    /// Whether a client wants the job to begin now, although its host may get no requests.
    var asksForRequest: Bool {
        switch self {
        case .resumeRequested, .retryRequested: true
        case .admitted, .waitEnded, .pauseRequested, .cancelRequested, .inputSupplied, .timeElapsed, .attemptStopped,
            .attemptInterrupted, .attemptDeferred, .attemptHeldOff, .attemptDiverted, .attemptFailed, .finalizePlanned,
            .finalized:
            false
        }
    }
}
