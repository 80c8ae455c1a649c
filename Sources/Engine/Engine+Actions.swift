import Downloads
import Storage

/// The actions on jobs.
extension Engine {
    /// Carries out an action and returns when it holds: a running job is stopped, its bytes are synced, and state, offset
    /// and event are committed before.
    ///
    /// - Parameter revision: where it is given, the one that the client knows.
    /// - Throws: `StoreError.noSuchJob`, `revisionChanged`.
    public func perform(_ request: JobSignal, on id: JobID, expecting revision: Int? = nil) async throws
        -> SignalOutcome
    {
        // A deleted session would go with its last job, and the job with it, before its answer is read.
        let session = try await services.store.job(id).session
        return try await withLease(on: session) {
            try await carryOut(request, on: id, expecting: revision)
        }
    }

    private func carryOut(_ request: JobSignal, on id: JobID, expecting revision: Int?) async throws -> SignalOutcome {
        var revision = revision
        while true {
            let outcome = try await services.store.apply(request, to: id, expecting: revision) { [active] outcome in
                active.requestStop(asDecided: outcome)
            }
            guard case .done(_, let effects, let dropped) = outcome else { return outcome }
            if let dropped { await services.removeParts([dropped]) }
            guard effects.contains(where: \.isStop) else { return outcome }
            revision = nil
            // The signal is sent again then, because the job may have succeeded at that moment.
            try await attemptEnds(of: id)
        }
    }

    /// Changes what a job's client asked for. What can change under way does: the rate limit of a running transfer.
    ///
    /// - Returns: nil when another request changed the job meanwhile.
    public func patch(
        _ job: Job, to spec: JobSpec, fields: Set<PatchableField>, expecting revision: Int?
    ) async throws -> SignalOutcome? {
        try await services.store.patchJob(
            job.id, from: job.spec, to: spec, fields: fields, expecting: revision
        ) { [active] outcome in
            if let job = outcome?.job { active[job.id]?.take(job.spec) }
        }
    }

    /// Forgets a job, which is cancelled first where it is outstanding.
    ///
    /// - Parameter deletesFile: removes the finished file, too.
    public func delete(_ id: JobID, deletesFile: Bool) async throws {
        while true {
            if let job = try await services.store.deleteJob(id) {
                if let part = job.part { await services.removeParts([part.id]) }
                if deletesFile, let file = job.state.finish?.file {
                    try await services.lanes.metadata.run { [folder = services.folder] in try folder.removeFile(file) }
                }
                return
            }
            _ = try await perform(.cancelRequested(keepsPart: false), on: id)
            // It is too late to cancel: the file is being promoted, which takes a moment.
            try await attemptEnds(of: id)
        }
    }

    /// - Throws: when the job has no attempt any more that could end, as the engine has stopped.
    private func attemptEnds(of id: JobID) async throws(EngineError) {
        if let attempt = active[id] { return await attempt.control.ended.wait() }
        // The end of its attempt could not be stored, so the database calls it running until the next start.
        if services.store.unstored.count > 0 { throw .stopped }
    }

    /// Opens a finished job's file; nil when it is gone from its place.
    public func openFile(of finish: Finish) async -> OpenedFile? {
        try? await services.lanes.metadata.run { [folder = services.folder] in folder.openFile(finish.file) }
    }
}

extension ActiveAttempts {
    /// In a commit's hook: there, the attempt is known to be the one that the database calls running.
    func requestStop(asDecided outcome: SignalOutcome) {
        guard case .done(let job, let effects, _) = outcome else { return }
        for case .stopAttempt(let stop) in effects { self[job.id]?.control.requestStop(.decided(stop)) }
    }
}

extension JobEffect {
    var isStop: Bool { if case .stopAttempt = self { true } else { false } }
}
