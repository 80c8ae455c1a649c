import Base
import Downloads

/// A job as it is committed, in the cache. Every commit that changes the job replaces the object, so what was derived from
/// it is current as long as the cache has the same object.
public final class CachedJob: Sendable {
    public let job: Job

    /// Bytes of its large members.
    let size: Int

    init(_ job: Job) {
        self.job = job
        size = job.spec.size
    }
}

/// Caches recently read jobs in their committed version, so that polling does not read the database.
///
/// The writer updates the cached jobs that a commit has changed before it acknowledges the change. If a commit changes
/// a job while a task reads it from the database, the task may have either version. The read then returns the job
/// without caching it.
final class JobCache: Sendable {
    fileprivate struct State {
        /// `recent` has the jobs that were read since the last rotation, `older` those before. A rotation drops
        /// `older`, so eviction costs nothing for each job.
        var recent: [JobID: CachedJob] = [:]
        var older: [JobID: CachedJob] = [:]
        var pendingReads: [JobID: PendingRead] = [:]
        /// Counts the commits that have changed jobs.
        var version: UInt64 = 0
        /// The position of the last commit of another service; 0 in a database of one service.
        var foreignPosition: Int64 = 0
    }

    fileprivate struct PendingRead {
        var readers = 0
        /// Whether the job has changed since the first of these reads began.
        var isStale = false
    }

    private let state = Locked(State())
    private let limit: Int
    /// In bytes. A few jobs have many large headers.
    private static let largestKept = 16 << 10

    init(limit: Int) { self.limit = limit }

    /// nil for a job that is too large to be kept.
    fileprivate static func kept(_ job: Job) -> CachedJob? {
        let cached = CachedJob(job)
        return cached.size <= largestKept ? cached : nil
    }

    subscript(id: JobID) -> CachedJob? { state.withLock { $0.find(id, limit) } }

    /// Changes with each commit that changes jobs, before the commit is acknowledged.
    var version: UInt64 { state.withLock { $0.version } }

    func jobs(_ ids: [JobID]) -> [CachedJob?] { state.withLock { state in ids.map { state.find($0, limit) } } }

    /// Caches jobs that were read from the database after `version`. If a commit has changed jobs since, they may be outdated.
    func keep(_ jobs: [CachedJob], readAt version: UInt64) {
        state.withLock { state in
            guard state.version == version else { return }
            for job in jobs where job.size <= Self.largestKept { state.keep(job, limit) }
        }
    }

    /// Returns the cached job without suspending, or reads and caches it.
    func job(_ id: JobID, read: () async throws(StoreError) -> Job?) async throws(StoreError) -> Job? {
        let known = state.withLock { state in
            if let cached = state.find(id, limit) { return Optional(cached.job) }
            state.pendingReads[id, default: PendingRead()].readers += 1
            return nil
        }
        if let known { return known }
        var job: Job?
        defer { state.withLock { $0.end(id, job, limit) } }
        job = try await read()
        return job
    }

    func cachedIDs(in jobs: Set<JobID>) -> [JobID] {
        guard !jobs.isEmpty else { return [] }
        return state.withLock { state in
            state.known(of: jobs).filter { state.recent[$0] != nil || state.older[$0] != nil }
        }
    }

    /// Removes jobs that the commit of another service at this position has changed. Versions of earlier commits of this one are
    /// not cached any more.
    func remove(_ changed: Set<JobID>, at position: Int64) {
        state.withLock { $0.foreignPosition = max($0.foreignPosition, position) }
        update(changed, with: [:], at: nil)
    }

    /// A commit has changed more jobs than it lists. The position is that of the last commit of another service.
    func removeAll(at position: Int64 = 0) {
        state.withLock { state in
            state.version += 1
            state.foreignPosition = max(state.foreignPosition, position)
            state.recent = [:]
            state.older = [:]
            for id in state.pendingReads.keys { state.pendingReads[id]?.isStale = true }
        }
    }

    /// Updates the cache after a commit: the changed jobs get their versions in `jobs`, or are removed.
    ///
    /// - Parameter position: nil if the commit has changed no data.
    func update(_ changed: Set<JobID>, with jobs: [JobID: Job], at position: Int64?) {
        guard !changed.isEmpty else { return }
        state.withLock { state in
            state.version += 1
            // Another service has perhaps changed the jobs again.
            let isLatest = position ?? .max > state.foreignPosition
            for id in state.known(of: changed) {
                state.older[id] = nil
                state.recent[id] = isLatest ? jobs[id].flatMap { Self.kept($0) } : nil
                state.pendingReads[id]?.isStale = true
            }
        }
    }
}

extension JobCache.State {
    /// A subset of the jobs that includes those that are cached or being read. New jobs are neither, so a large set of them
    /// costs no more than the cache has jobs.
    fileprivate func known(of jobs: Set<JobID>) -> Set<JobID> {
        guard recent.count + older.count + pendingReads.count < jobs.count else { return jobs }
        var known = Set<JobID>()
        for ids in [recent.keys, older.keys] { known.formUnion(ids.lazy.filter(jobs.contains)) }
        known.formUnion(pendingReads.keys.lazy.filter(jobs.contains))
        return known
    }

    fileprivate mutating func find(_ id: JobID, _ limit: Int) -> CachedJob? {
        if let cached = recent[id] { return cached }
        guard let cached = older.removeValue(forKey: id) else { return nil }
        keep(cached, limit)
        return cached
    }

    fileprivate mutating func keep(_ cached: CachedJob, _ limit: Int) {
        if recent.count >= limit / 2 {
            older = recent
            recent = [:]
        }
        recent[cached.job.id] = cached
    }

    fileprivate mutating func end(_ id: JobID, _ job: Job?, _ limit: Int) {
        guard var reading = pendingReads[id] else { return }
        if let job, !reading.isStale, let cached = JobCache.kept(job) { keep(cached, limit) }
        reading.readers -= 1
        pendingReads[id] = reading.readers == 0 ? nil : reading
    }
}
