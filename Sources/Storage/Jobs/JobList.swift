import Downloads

public struct JobQuery: Sendable {
    public var session: Name?
    public var visible = VisibleSessions.all
    public var state: JobState.Kind?
    public var tag: String?
    public var limit: Int
    public var before: JobID?

    public init(
        session: Name? = nil, state: JobState.Kind? = nil, tag: String? = nil, limit: Int = 100, before: JobID? = nil
    ) {
        self.session = session
        self.state = state
        self.tag = tag
        self.limit = limit
        self.before = before
    }
}

public struct JobPage: Sendable {
    /// The jobs, each as the object that the cache has if the job is cached.
    public var cached: [CachedJob]
    /// The cursor of the next page; nil at the end.
    public var next: JobID?

    public var jobs: [Job] { cached.map(\.job) }
}

extension Store {
    /// Uses keyset paging on identifiers, which are in commit order. Concurrent inserts and deletes don't make a reader
    /// skip or repeat another job.
    ///
    /// Clients poll the first page, and few of its jobs change meanwhile. So it reads only the identifiers and revisions of
    /// the jobs that are in the cache.
    public func jobs(_ query: JobQuery) async throws(StoreError) -> JobPage {
        guard query.before == nil else { return try await read { [sealer] db in try query.page(in: db, sealer) } }
        let version = jobCache.version
        let (jobs, new) = try await read { [jobCache, sealer] db in try query.jobs(in: db, sealer, knowing: jobCache) }
        jobCache.keep(new, readAt: version)
        return query.page(jobs)
    }
}

extension JobQuery {
    fileprivate func page(_ jobs: [CachedJob]) -> JobPage {
        let page = Array(jobs.prefix(limit))
        let isCut = jobs.reduce(0) { $0 + $1.size } >= Self.mostBytes
        return JobPage(cached: page, next: isCut || jobs.count > page.count ? page.last?.job.id : nil)
    }

    func page(in db: SQLConnection, _ sealer: Sealer) throws -> JobPage { page(try jobs(in: db, sealer)) }

    private func jobs(in db: SQLConnection, _ sealer: Sealer) throws -> [CachedJob] {
        let (sql, arguments) = statement
        var jobs: [CachedJob] = []
        var size = 0
        try db.forEach(sql, arguments) { row in
            let job = CachedJob(try JobRow.job(row, sealer))
            jobs.append(job)
            size += job.size
            return size < Self.mostBytes
        }
        return jobs
    }

    /// A page of jobs with many large headers ends early, so that its memory is bounded.
    private static let mostBytes = 8 << 20

    /// A cached job may be from before or after the snapshot of this read. It is used only in the revision of the snapshot.
    ///
    /// - Returns: also those that were not cached.
    fileprivate func jobs(
        in db: SQLConnection, _ sealer: Sealer, knowing cache: JobCache
    ) throws -> (all: [CachedJob], new: [CachedJob]) {
        let (sql, arguments) = versionStatement
        let versions = try db.map(sql, arguments) { try (id: JobID($0[0]), revision: $0[1] as Int) }
        let known = zip(versions, cache.jobs(versions.map(\.id))).map { version, cached in
            cached?.job.revision == version.revision ? cached : nil
        }
        // One statement for all jobs is faster than one for each of many.
        guard known.count(where: { $0 == nil }) <= known.count / 4 else {
            let jobs = try jobs(in: db, sealer)
            return (jobs, jobs)
        }
        var (all, new): ([CachedJob], [CachedJob]) = ([], [])
        var size = 0
        for (version, cached) in zip(versions, known) where size < Self.mostBytes {
            if let cached {
                all.append(cached)
            } else if let read = try JobRow.job(version.id, in: db, sealer).map(CachedJob.init) {
                all.append(read)
                new.append(read)
            }
            size += all.last?.size ?? 0
        }
        return (all, new)
    }

    /// Each combination of filters walks one index from the cursor on. A condition on the state names the condition of the
    /// partial index for it.
    var statement: (sql: String, arguments: SQLArguments) {
        statement(tag == nil ? JobRow.select : JobRow.selectTagged)
    }

    var versionStatement: (sql: String, arguments: SQLArguments) {
        let table = tag == nil ? "jobs" : "job_tags JOIN jobs ON jobs.id = job_tags.job"
        return statement("SELECT jobs.id, jobs.revision FROM \(table) ")
    }

    private func statement(_ select: String) -> (sql: String, arguments: SQLArguments) {
        let position = tag == nil ? "jobs.id" : "job_tags.job"
        // Above every identifier when there is no cursor.
        var conditions = SQLConditions("\(position) < ?", before?.text ?? "~")
        if let tag { conditions.add("job_tags.tag = ?", tag) }
        if let session { conditions.add(sessionCondition, session.text) }
        conditions.add(visible, on: tag == nil ? "jobs.session" : "job_tags.session")
        switch state {
        case nil: break
        case .running?: conditions.add("jobs.state = 'running'")
        case let state?: conditions.add("jobs.state <> 'running' AND jobs.state = ?", state.rawValue)
        }
        let order = "ORDER BY \(position) DESC LIMIT ?"
        return ("\(select)WHERE \(conditions.sql) \(order)", conditions.arguments + [limit + 1])
    }

    /// Few jobs run, so a list of them walks those of all sessions: an expression keeps SQLite from the index of all jobs
    /// of the session.
    private var sessionCondition: String {
        if tag != nil { return "job_tags.session = ?" }
        return state == .running ? "coalesce(jobs.session, '') = ?" : "jobs.session = ?"
    }
}
