import Downloads
import Formats
import Storage

/// The methods that change the state of downloads.
extension Aria2Service {
    func remove(_ parameters: inout RPCParameters) async throws -> JSON {
        let job = try await job(try parameters.gid(), isPresent: true)
        let refusal = RPCError("Active Download not found for GID#\(job.aria2GID)")
        guard job.state.isOutstanding else { throw refusal }
        return try await perform(.cancelRequested(keepsPart: false), on: job, else: refusal)
    }

    func pause(_ parameters: inout RPCParameters) async throws -> JSON {
        let job = try await job(try parameters.gid(), isPresent: true)
        let refusal = RPCError("GID#\(job.aria2GID) cannot be paused now")
        guard job.state.isOutstanding, job.state != .paused else { throw refusal }
        return try await perform(.pauseRequested, on: job, else: refusal)
    }

    func unpause(_ parameters: inout RPCParameters) async throws -> JSON {
        let job = try await job(try parameters.gid(), isPresent: true)
        let refusal = RPCError("GID#\(job.aria2GID) cannot be unpaused now")
        guard job.state == .paused else { throw refusal }
        return try await perform(.resumeRequested, on: job, else: refusal)
    }

    private func perform(_ signal: JobSignal, on job: Job, else refusal: RPCError) async throws -> JSON {
        switch try await engine.perform(signal, on: job.id) {
        case .done, .stale, .superseded, .excess: return .string(job.aria2GID.description)
        case .refused: throw refusal
        }
    }

    func performOnAll(_ signal: JobSignal) async throws -> JSON {
        do {
            _ = try await engine.perform(signal, onAllOf: session)
        } catch StoreError.noSuchSession {
            // No download was added yet.
        }
        return "OK"
    }

    /// A job that waits for its next attempt keeps waiting: aria2 has no such state.
    func unpauseAll() async throws -> JSON {
        try await resume(try await store.pausedJobs(of: session))
        return "OK"
    }

    /// - Parameter paused: jobs that were paused when they were listed.
    func resume(_ paused: [JobID]) async throws {
        for id in paused {
            do {
                _ = try await engine.perform(.resumeRequested, on: id)
            } catch StoreError.noSuchJob {
                // Another call has deleted it.
            }
        }
    }

    /// Removes all downloads that have ended from the list. Their files stay.
    func purgeResults() async throws -> JSON {
        try await purge(try await store.endedJobs(of: session))
        return "OK"
    }

    /// - Parameter ended: jobs that had ended when they were listed. Those that a client has retried since stay.
    func purge(_ ended: [JobID]) async throws {
        for id in ended {
            do {
                _ = try await engine.deleteIfEnded(id, deletesFile: false)
            } catch StoreError.noSuchJob {
                // Another call was faster.
            }
        }
    }

    func removeResult(_ parameters: inout RPCParameters) async throws -> JSON {
        let job = try await job(try parameters.gid())
        guard try await engine.deleteIfEnded(job.id, deletesFile: false) else {
            throw RPCError("Could not remove download result of GID#\(job.aria2GID)")
        }
        return "OK"
    }
}
