import Downloads
import Engine
import Storage

/// The jobs of the service, for its interfaces. An operation on jobs has one form here, whether the store alone carries it out,
/// or the engine, because attempts and files take part in it.
public struct Jobs: Sendable {
    private let store: Store
    private let engine: Engine

    public init(store: Store, engine: Engine) {
        self.store = store
        self.engine = engine
    }

    // MARK: Reading

    /// The job as it is committed, from memory if possible.
    ///
    /// - Throws: `noSuchJob`.
    public func job(_ id: JobID) async throws(StoreError) -> Job { try await store.job(id) }

    /// The job from the database: its present version, also after a commit of another node.
    ///
    /// - Throws: `noSuchJob`.
    public func storedJob(_ id: JobID) async throws(StoreError) -> Job { try await store.storedJob(id) }

    /// The job if it is in memory. nil does not mean that the job does not exist.
    public func cachedJob(_ id: JobID) -> CachedJob? { store.cachedJob(id) }

    /// nil if the job does not run. An attempt that has just ended may still be there.
    public func progress(of job: Job) -> LiveProgress? { engine.progress(of: job) }

    /// Why queued jobs do not run yet, and their places in the queue. Other jobs have no entry.
    public func queueEntries(of jobs: [Job]) async throws(StoreError) -> [JobID: QueueEntry] {
        try await engine.queueEntries(of: jobs)
    }

    public func progressOfRunning() -> [RunningJob] { engine.progressOfRunning() }

    /// Changes with each commit that changes jobs. A list that was read after this was read is current as long as it is equal.
    public var version: UInt64 { store.jobsVersion }

    public func page(_ query: JobQuery) async throws(StoreError) -> JobPage { try await store.jobs(query) }

    /// The indices of the files that are no longer there.
    public func missing(of files: [FinishedFile]) async throws -> Set<Int> { try await engine.missing(of: files) }

    /// - Returns: nil if the file is no longer there.
    public func openFile(of finish: JobResult) async -> OpenedFile? { await engine.openFile(of: finish) }

    // MARK: Creating

    /// Creates all jobs or none, in the given order.
    ///
    /// - Throws: `unknownSession` or `sessionFinishing`, with the index of the first job that names such a session.
    public func create(_ new: [NewJob], by creator: JobCreator) async throws -> [Job] {
        try await store.createJobs(new, by: creator)
    }

    /// Creates the jobs unless the same request was carried out before. Then it creates none and returns the first response.
    ///
    /// - Parameter answer: makes the response. It is committed together with the jobs.
    /// - Throws: also `idempotencyKeyReused`, `answerLost`.
    public func create(
        _ new: [NewJob], by creator: JobCreator, once claim: IdempotencyClaim,
        answer: @escaping @Sendable ([Job]) -> IdempotentResponse
    ) async throws -> IdempotentResponse {
        try await store.createJobs(new, by: creator, once: claim, answer: answer)
    }

    /// The response to the first request with the same key; nil if there was none.
    public func rememberedAnswer(to claim: IdempotencyClaim) async throws(StoreError) -> IdempotentResponse? {
        try await store.rememberedAnswer(to: claim)
    }

    // MARK: Changing

    /// Changes the specification of a job, again if another request changes the job meanwhile.
    ///
    /// - Parameters:
    ///   - job: the job as it was read; it may be outdated.
    ///   - revision: if given, the revision that the job must have.
    ///   - change: returns the specification and its changed fields; nil: nothing changes.
    /// - Throws: `noSuchJob`, `revisionChanged`, `fieldsFixed`, and the errors of `change`.
    public func patch(
        _ job: Job, expecting revision: Int? = nil,
        _ change: (Job) throws -> (spec: JobSpec, fields: Set<PatchableField>)?
    ) async throws -> Job {
        try await engine.patch(job, expecting: revision, change)
    }

    /// Carries out an action. If it stops an attempt, it returns after the attempt has ended.
    public func perform(
        _ signal: JobSignal, on id: JobID, expecting revision: Int? = nil
    ) async throws -> SignalOutcome {
        try await engine.perform(signal, on: id, expecting: revision)
    }

    /// Moves a job to another place in the queue.
    ///
    /// - Throws: `noSuchJob`, `revisionChanged`, `moveRefused`.
    public func move(_ id: JobID, to target: QueueTarget, expecting revision: Int? = nil) async throws -> Job {
        switch target {
        case .place(let place): return try await store.moveJob(id, to: place, expecting: revision)
        case .index(let index):
            let job = try await store.job(id)
            let place = try await store.place(at: index, in: job.session, job.rank, without: [id])
            return try await store.moveJob(id, to: place, expecting: revision)
        }
    }

    // MARK: Deleting

    /// Deletes a job. One that has not ended is cancelled first.
    public func delete(_ id: JobID, deletesFile: Bool) async throws {
        try await engine.delete(id, deletesFile: deletesFile)
    }

    /// - Returns: false if the job has not ended. Then nothing has changed.
    public func deleteIfEnded(_ id: JobID) async throws -> Bool {
        try await engine.deleteIfEnded(id, deletesFile: false)
    }
}

extension Jobs {
    /// Carries out an action on many jobs, and stores what was done in the audit log.
    ///
    /// - Parameter answer: makes the response from the counts.
    public func perform(
        _ action: ActionOnMany, on selection: JobSelection, visible: VisibleSessions, _ record: ActionRecord,
        once claim: IdempotencyClaim?, answer: (ActionRecord) -> IdempotentResponse
    ) async throws -> IdempotentResponse {
        try await engine.perform(action, on: selection, visible: visible, record, once: claim, answer: answer)
    }
}

/// The lists of jobs of one session, as an interface needs them that counts places over the whole session.
extension Jobs {
    public func jobs(withGID prefix: GIDPrefix, in session: Name) async throws(StoreError) -> [JobID] {
        try await store.jobs(withGID: prefix, in: session)
    }

    /// The jobs in the queue, in their order.
    public func queue(of session: Name) async throws(StoreError) -> [JobID] { try await store.queue(of: session) }

    /// - Parameter offset: from the beginning; a negative one from the end, in the reverse order.
    public func queue(of session: Name, from offset: Int, count: Int) async throws(StoreError) -> [JobID] {
        try await store.queue(of: session, from: offset, count: count)
    }

    public func running(of session: Name) async throws(StoreError) -> [JobID] {
        try await store.runningJobs(of: session)
    }

    public func paused(of session: Name) async throws(StoreError) -> [JobID] {
        try await store.pausedJobs(of: session)
    }

    public func ended(of session: Name) async throws(StoreError) -> [JobID] { try await store.endedJobs(of: session) }

    /// - Parameter offset: from the beginning; a negative one from the end, in the reverse order.
    public func ended(of session: Name, from offset: Int, count: Int) async throws(StoreError) -> [JobID] {
        try await store.endedJobs(of: session, from: offset, count: count)
    }
}
