import Downloads
import Storage

/// What clients ask of jobs.
extension Engine {
    /// Carries out an action and returns when it holds: a running job is stopped, its bytes are synced, and state, offset
    /// and event are committed before.
    ///
    /// - Throws: `StoreError.noSuchJob`.
    public func perform(_ action: JobSignal.Action, on id: JobID) async throws -> SignalOutcome {
        // A deleted session would go with its last job, and the job with it, before its answer is read.
        try await holding(services.store.job(id).session) { try await carryOut(action, on: id) }
    }

    private func carryOut(_ action: JobSignal.Action, on id: JobID) async throws -> SignalOutcome {
        while true {
            let outcome = try await services.store.send(action.signal, to: id) { [active] outcome in
                active.requestStop(asDecided: outcome)
            }
            guard case .done(_, let effects, let dropped) = outcome else { return outcome }
            if let dropped { services.folder.removePart(dropped) }
            guard effects.contains(where: \.isStop) else { return outcome }
            // Then asked again: it may have succeeded in the very moment.
            await active[id]?.control.ended.wait()
        }
    }

    /// Forgets a job, which is cancelled first where it is outstanding.
    ///
    /// - Parameter deletesFile: removes the finished file, too.
    public func delete(_ id: JobID, deletesFile: Bool) async throws {
        while true {
            if let job = try await services.store.forgetJob(id) {
                if let part = job.part { services.folder.removePart(part.id) }
                if deletesFile, let path = job.state.finish?.file.path { try services.folder.removeFile(path) }
                return
            }
            _ = try await perform(.cancel, on: id)
            // Too late to cancel: its file is on the way to its place, which takes a moment.
            await active[id]?.control.ended.wait()
        }
    }

    /// Opens a finished job's file; nil when it is gone from the disk.
    public func openFile(of finish: Finish) -> (descriptor: Int32, size: Int64, modified: Int64)? {
        services.folder.openFile(finish.file.path)
    }
}

extension ActiveAttempts {
    /// In a commit's hook: there, the attempt is known to be the one that the database calls running.
    func requestStop(asDecided outcome: SignalOutcome) {
        guard case .done(let job, let effects, _) = outcome else { return }
        for case .stopAttempt(let reason) in effects { self[job.id]?.control.requestStop(.asked(reason)) }
    }
}

extension JobEffect {
    var isStop: Bool { if case .stopAttempt = self { true } else { false } }
}
