import Downloads

/// Creates, reads and deletes jobs.
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
        answer: @escaping @Sendable ([Job]) -> RememberedAnswer
    ) async throws -> RememberedAnswer {
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

    /// The job as it is committed, always from the database. After a commit of another node, the cache can have the former
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
    /// - Parameter removesFileElsewhere: whether another node that has the file in a folder of its own removes it.
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
