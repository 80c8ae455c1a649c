import Downloads
import Formats
import Foundation
import HTTPSemantics

public struct NewJob: Sendable {
    public var session: Name
    public var spec: JobSpec
    public var resumeFrom: JobID?
    public var isPaused: Bool
    /// The job's identifier in aria2's RPC.
    public var gid: GID?
    /// The place in the queue; nil: at the bottom.
    public var place: QueuePosition?

    public init(
        session: Name, spec: JobSpec, resumeFrom: JobID? = nil, isPaused: Bool = false, gid: GID? = nil,
        place: QueuePosition? = nil
    ) {
        self.session = session
        self.spec = spec
        self.resumeFrom = resumeFrom
        self.isPaused = isPaused
        self.gid = gid
        self.place = place
    }
}

/// Who creates jobs, as far as the store must know it.
public struct JobCreator: Sendable {
    /// Only jobs of these sessions can give their parts to the new jobs.
    public var visible: VisibleSessions
    /// The token that the jobs count for; nil: they count for none.
    public var token: TokenID?
    public var quotas: TokenQuotas
    /// The trace of the request; nil if it names none.
    public var trace: TraceContext?

    public init(
        visible: VisibleSessions, token: TokenID? = nil, quotas: TokenQuotas = .none, trace: TraceContext? = nil
    ) {
        self.visible = visible
        self.token = token
        self.quotas = quotas
        self.trace = trace
    }

    public static let unlimited = JobCreator(visible: .all)
}

extension Store {
    /// Creates all jobs or none, in the given order.
    ///
    /// - Throws: `unknownSession` or `sessionFinishing`, with the index of the first job that names such a session.
    public func createJobs(_ new: [NewJob], by creator: JobCreator = .unlimited) async throws -> [Job] {
        try await writer.write { try $0.createJobs(new, by: creator) }
    }

    /// Creates the jobs unless the same request was carried out before. Then it creates none and returns the first answer.
    ///
    /// - Parameter answer: makes the answer to the request. The store commits it together with the jobs.
    /// - Throws: also `idempotencyKeyReused`, `answerLost`.
    public func createJobs(
        _ new: [NewJob], by creator: JobCreator = .unlimited, once claim: IdempotencyClaim,
        answer: @escaping @Sendable ([Job]) -> IdempotentResponse
    ) async throws -> IdempotentResponse {
        try await writer.write { transaction in
            if let first = try transaction.rememberedAnswer(to: claim) { return first }
            let answer = answer(try transaction.createJobs(new, by: creator))
            try transaction.remember(answer, to: claim, holdsSecrets: new.contains { $0.spec.holdsSecrets })
            return answer
        }
    }

    /// The job as it is committed, from the cache if possible.
    ///
    /// - Throws: `noSuchJob`.
    public func job(_ id: JobID) async throws(StoreError) -> Job {
        let job = try await jobCache.job(id) { () async throws(StoreError) in try await row(of: id) }
        guard let job else { throw .noSuchJob(id) }
        return job
    }

    /// The job as it is committed, always from the database. After a commit of another service, the cache can have the former
    /// version for up to a second. What is decided by the state of a job, or repeated until it fits, needs the present one.
    ///
    /// - Throws: `noSuchJob`.
    public func storedJob(_ id: JobID) async throws(StoreError) -> Job {
        guard let job = try await row(of: id) else { throw .noSuchJob(id) }
        return job
    }

    private func row(of id: JobID) async throws(StoreError) -> Job? {
        try await read { [sealer] db in try JobRow.job(id, in: db, sealer) }
    }

    /// The job as it is committed, if it is in the cache. nil does not mean that the job does not exist.
    public func cachedJob(_ id: JobID) -> CachedJob? { jobCache[id] }

    /// Changes with each commit that changes jobs. A list that was read after this was read is current as long as it is equal.
    public var jobsVersion: UInt64 { jobCache.version }

    /// Deletes a job that has ended: its row, its part and its tags. Its events, its deliveries and its file stay.
    ///
    /// - Parameter removesFileElsewhere: whether another service that has the file in a folder of its own removes it.
    /// - Returns: the deleted job; nil if the job has not ended, and then nothing has changed.
    /// - Throws: `noSuchJob`.
    public func deleteJob(_ id: JobID, removingFileElsewhere removesFileElsewhere: Bool = false) async throws -> Job? {
        try await writer.write { transaction in
            let job = try transaction.deleteJob(id)
            if removesFileElsewhere, let job { try transaction.dropFile(of: job) }
            return job
        }
    }
}

extension Transaction {
    func createJobs(_ new: [NewJob], by creator: JobCreator = .unlimited) throws -> [Job] {
        try requireQuota(of: creator, for: new.count)
        var jobs: [Job] = []
        jobs.reserveCapacity(new.count)
        var rest = new[...]
        while let session = rest.first?.session {
            let run = rest.prefix { $0.session == session }
            rest = rest.dropFirst(run.count)
            jobs += try createJobs(run, in: session, by: creator)
        }
        wake(.jobs)
        return jobs
    }

    private func createJobs(_ new: ArraySlice<NewJob>, in session: Name, by creator: JobCreator) throws -> [Job] {
        let configuration = try openConfiguration(of: session, forJobAt: new.startIndex)
        let batch = try joinBatch(session, adding: new.count)
        try clearWaiting(of: session)
        let jobs = new.map { new in
            var spec = new.spec
            spec.priority = spec.priority ?? configuration.priority
            return Job(
                id: .make(nextULID()), session: session, token: creator.token, gid: new.gid, batch: batch,
                state: new.isPaused ? .paused : .queued, spec: spec, trace: creator.trace, createdAt: now
            ).roundedToMilliseconds
        }
        for gid in new.compactMap(\.gid) { try requireFree(gid, in: session) }
        try insert(jobs)
        for (index, job) in zip(new.indices, jobs) {
            if let donor = new[index].resumeFrom { try adoptPart(of: donor, by: job, at: index, creator) }
        }
        try append(
            jobs.flatMap { job in
                let types: [EventType] = job.state == .paused ? [.jobCreated, .jobPaused] : [.jobCreated]
                return types.map { NewEvent($0, of: job) }
            })
        for (new, job) in zip(new, jobs) {
            if let place = new.place { _ = try moveJob(job.id, to: place) }
        }
        return try jobs.map { try job($0.id) }
    }

    /// The configuration of a session that accepts new jobs.
    private func openConfiguration(of id: Name, forJobAt index: Int) throws -> SessionConfiguration {
        do {
            let session = try session(id)
            guard !session.isFinishing else { throw StoreError.sessionFinishing(id, index: index) }
            return session.configuration
        } catch StoreError.noSuchSession {
            throw StoreError.unknownSession(id, index: index)
        }
    }

    private func requireFree(_ gid: GID, in session: Name) throws {
        let taken = try row(
            "SELECT 1 FROM jobs WHERE session = ? AND gid IS NOT NULL AND gid = ?", [session.text, gid.description])
        guard taken == nil else { throw StoreError.gidTaken(gid) }
    }

    func deleteJob(_ id: JobID) throws -> Job? {
        let job = try job(id)
        guard job.state.isTerminal else { return nil }
        try announce(.jobDeleted, of: job)
        try delete(job)
        return job
    }
}

extension Transaction {
    /// - Parameter jobs: queued or paused jobs of one batch, without a part. Their times are rounded to milliseconds.
    func insert(_ jobs: [Job]) throws {
        guard let first = jobs.first else { return }
        for chunk in RowInsertion.chunks(jobs) {
            var values: [(any SQLValue)?] = []
            values.reserveCapacity(chunk.count * Self.newJobColumns.count)
            for job in chunk {
                for item in Self.newJobColumns { values.append(try item.value(job, self)) }
            }
            try Self.insertion.run(values, rows: chunk.count, in: self)
        }
        let paused = jobs.count { $0.state == .paused }
        counts.addNew(queued: jobs.count - paused, paused: paused, to: first.batch, of: first.session)
        for job in jobs {
            wakeDeadlines(job)
            for tag in job.spec.tags {
                try run(
                    "INSERT INTO job_tags (tag, session, job) VALUES (?, ?, ?)", [tag, job.session.text, job.id.text])
            }
            touch(job.id)
            working.jobs.note(job, for: job.id)
        }
    }

    private static let newJobColumns = JobTable.jobs.columns.inserted
    private static let insertion = RowInsertion(
        "jobs (\(newJobColumns.map(\.column.name).joined(separator: ", ")))", columns: newJobColumns.count)
}

extension Store {
    /// Replaces the specification of a job. A job that waits for one of these fields is queued again.
    ///
    /// - Parameters:
    ///   - before: the specification that the patch was applied to.
    ///   - fields: the fields that the patch names.
    /// - Returns: nil when another request has changed the specification since; nothing is changed then.
    /// - Throws: `noSuchJob`, `revisionChanged`, `fieldsFixed`.
    public func patchJob(
        _ id: JobID, from before: JobSpec, to after: JobSpec, fields: Set<PatchableField>, expecting revision: Int?,
        onCommit: @escaping @Sendable (SignalOutcome?) -> Void = { _ in }
    ) async throws -> SignalOutcome? {
        try await writer.write(onCommit: onCommit) { transaction in
            if let revision { try transaction.requireRevision(revision, of: id) }
            let job = try transaction.job(id)
            return job.spec == before ? try transaction.patch(job, to: after, fields) : nil
        }
    }
}

extension Transaction {
    func requireRevision(_ revision: Int, of id: JobID) throws {
        let job = try job(id)
        guard job.revision == revision else { throw StoreError.revisionChanged(id, now: job.revision) }
    }

    func patch(_ job: Job, to spec: JobSpec, _ fields: Set<PatchableField>) throws -> SignalOutcome {
        let fixed = fields.filter { !job.state.lets($0) }
        guard fixed.isEmpty else {
            throw StoreError.fieldsFixed(job.id, state: job.state.name, fields: fixed.map(\.rawValue).sorted())
        }
        var patched = job
        patched.spec = spec
        patched.spec.priority = try spec.priority ?? configuration(of: job.session).priority
        patched.revision += 1
        if fields.contains(.url) {
            patched.mirror = 0
            // No digest has disproved the bytes of the new URL.
            patched.isCorrupt = false
        }
        try save(patched)
        try noteChangedSpecification(of: patched)
        wake(.jobs)
        // A job whose secrets are lost waits for `credentials`, also if another member was lost.
        let input = spec.lost == job.spec.lost ? fields.requiredInput : fields.requiredInput.union([.credentials])
        let outcome = try transitionJob(patched, on: .inputSupplied(input))
        return .done(outcome.job, then: [])
    }
}

extension Store {
    /// The jobs of a session whose identifier begins with these digits; at most two, because only a unique one is a name.
    ///
    /// Stored identifiers have an index. Those of jobs that were created without one are derived, so these jobs are read.
    public func jobs(withGID prefix: GIDPrefix, in session: Name) async throws(StoreError) -> [JobID] {
        let stored = try await ids(Self.storedGIDs, [session.text, prefix.text, prefix.end])
        guard stored.isEmpty || (stored.count == 1 && prefix.gid == nil) else { return stored }
        let others = try await read { db in
            var found: [JobID] = []
            try db.forEach(Self.jobsWithoutGID, [session.text]) { row in
                let id = try JobID(row[0])
                if prefix.matches(GID(of: id)) { found.append(id) }
                return found.count < 2
            }
            return found
        }
        return stored + others
    }

    static let storedGIDs = "SELECT id FROM jobs WHERE session = ? AND gid IS NOT NULL AND gid >= ? AND gid < ? LIMIT 2"
    static let jobsWithoutGID = "SELECT id FROM jobs WHERE session = ? AND gid IS NULL"
}
