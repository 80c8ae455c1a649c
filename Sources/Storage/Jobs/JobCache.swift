import Downloads
import Locks

/// Jobs that somebody asked for lately, exactly as they are committed: polling them reads no database.
///
/// The writer brings those that a commit has changed up to date before the change is acknowledged. A job that is being
/// read meanwhile is read from before or after the commit, nobody knows; so it is answered with, but not kept.
final class JobCache: Sendable {
    fileprivate struct State {
        /// Those asked for since the older half was dropped, and those before: forgetting costs nothing per job.
        var recent: [JobID: Job] = [:]
        var older: [JobID: Job] = [:]
        var pendingReads: [JobID: PendingRead] = [:]
    }

    fileprivate struct PendingRead {
        var readers = 0
        /// The job has changed since the first of them began.
        var isStale = false
    }

    private let state = Locked(State())
    private let limit: Int

    /// - Parameter limit: jobs that are kept, at most.
    init(limit: Int) { self.limit = limit }

    subscript(id: JobID) -> Job? { state.withLock { $0.find(id, limit) } }

    /// The job from memory, or as `read` finds it.
    func job(_ id: JobID, read: () throws(StoreError) -> Job?) throws(StoreError) -> Job? {
        let known = state.withLock { state in
            if let job = state.find(id, limit) { return Optional(job) }
            state.pendingReads[id, default: PendingRead()].readers += 1
            return nil
        }
        if let known { return known }
        var job: Job?
        defer { state.withLock { $0.end(id, job, limit) } }
        job = try read()
        return job
    }

    /// Those of the jobs that are kept.
    func cachedIDs(in jobs: Set<JobID>) -> [JobID] {
        guard !jobs.isEmpty else { return [] }
        return state.withLock { state in jobs.filter { state.recent[$0] != nil || state.older[$0] != nil } }
    }

    /// A commit has changed more jobs than it names.
    func removeAll() {
        state.withLock { state in
            state.recent = [:]
            state.older = [:]
            for id in state.pendingReads.keys { state.pendingReads[id]?.isStale = true }
        }
    }

    /// A commit has changed these jobs; how some of them are now is told with it, the others are no longer jobCache.
    func update(_ changed: Set<JobID>, with jobs: [JobID: Job]) {
        guard !changed.isEmpty else { return }
        state.withLock { state in
            for id in changed {
                state.older[id] = nil
                state.recent[id] = jobs[id]
                state.pendingReads[id]?.isStale = true
            }
        }
    }
}

extension JobCache.State {
    fileprivate mutating func find(_ id: JobID, _ limit: Int) -> Job? {
        if let job = recent[id] { return job }
        guard let job = older.removeValue(forKey: id) else { return nil }
        keep(job, limit)
        return job
    }

    fileprivate mutating func keep(_ job: Job, _ limit: Int) {
        if recent.count >= limit / 2 { (older, recent) = (recent, [:]) }
        recent[job.id] = job
    }

    fileprivate mutating func end(_ id: JobID, _ job: Job?, _ limit: Int) {
        guard var reading = pendingReads[id] else { return }
        if let job, !reading.isStale { keep(job, limit) }
        reading.readers -= 1
        pendingReads[id] = reading.readers == 0 ? nil : reading
    }
}
