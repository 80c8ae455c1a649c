import Downloads
import Formats
import Storage

/// The methods that change the state of downloads.
extension Aria2Service {
    func remove(_ parameters: inout RPCParameters) async throws -> JSON {
        let gid = try parameters.gid()
        let job = try await job(gid)
        let refusal = RPCError("Active Download not found for GID#\(job.aria2GID)")
        guard job.state.isOutstanding else { throw refusal }
        return try await perform(.cancelRequested(keepsPart: false), on: job, else: refusal)
    }

    func pause(_ parameters: inout RPCParameters) async throws -> JSON {
        let job = try await job(try parameters.gid())
        let refusal = RPCError("GID#\(job.aria2GID) cannot be paused now")
        guard job.state.isOutstanding, job.state != .paused else { throw refusal }
        return try await perform(.pauseRequested, on: job, else: refusal)
    }

    func unpause(_ parameters: inout RPCParameters) async throws -> JSON {
        let job = try await job(try parameters.gid())
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
        for job in try await jobs(try await store.queue(of: session)) where job.state == .paused {
            _ = try await engine.perform(.resumeRequested, on: job.id)
        }
        return "OK"
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

    // MARK: The queue

    func changePosition(_ parameters: inout RPCParameters) async throws -> JSON {
        let gid = try parameters.gid()
        let (offset, how) = (try parameters.integer(), try parameters.string())
        guard let origin = PositionOrigin(rawValue: how) else { throw RPCError("Illegal argument.") }
        let job = try await job(gid)
        let queue = try await store.queue(of: session)
        guard let present = queue.firstIndex(of: job.id) else {
            throw RPCError("GID#\(job.aria2GID) not found in the waiting queue.")
        }
        let wanted = origin.position(offset: offset, present: present, count: queue.count)
        guard wanted != present else { return .count(present) }
        let others = queue.filter { $0 != job.id }
        let place = try await place(at: wanted, of: others, for: job)
        let moved = try await store.moveJob(job.id, to: place)
        return .count(try await store.queue(of: session).firstIndex(of: moved.id) ?? wanted)
    }

    /// Jobs of another priority are no neighbours: the place is then the end that is next to them.
    private func place(at position: Int, of others: [JobID], for job: Job) async throws -> QueuePlace {
        if position == 0 { return .top }
        if position >= others.count { return .bottom }
        let next = try await store.job(others[position])
        guard next.spec.priority ?? .normal == job.spec.priority ?? .normal else {
            return (next.spec.priority ?? .normal).rank < (job.spec.priority ?? .normal).rank ? .top : .bottom
        }
        return .before(next.id)
    }
}

/// The third parameter of `aria2.changePosition`.
private enum PositionOrigin: String {
    case set = "POS_SET"
    case current = "POS_CUR"
    case end = "POS_END"

    func position(offset: Int, present: Int, count: Int) -> Int {
        let position =
            switch self {
            case .set: offset
            case .current: present.addingReportingOverflow(offset).partialValue
            case .end: (count - 1).addingReportingOverflow(offset).partialValue
            }
        return min(max(0, position), count - 1)
    }
}
