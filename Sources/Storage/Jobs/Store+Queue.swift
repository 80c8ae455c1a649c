import Downloads

/// The order in which the jobs of a session start.
extension Store {
    /// Moves a job that is queued, waiting or paused. Only its own row changes.
    ///
    /// - Parameter revision: if given, the revision that the job must have.
    /// - Throws: `noSuchJob`, `revisionChanged`, `moveRefused`.
    public func moveJob(_ id: JobID, to place: QueuePlace, expecting revision: Int? = nil) async throws -> Job {
        try await writer.write { transaction in
            if let revision { try transaction.requireRevision(revision, of: id) }
            return try transaction.moveJob(id, to: place)
        }
    }

    /// The place at an index among the jobs of the same session and priority that are queued, waiting or paused. It reads
    /// these jobs, on a reader's thread; the queue may change meanwhile.
    ///
    /// - Parameter index: 0 is the top; an index beyond the end is the bottom.
    public func place(at index: Int, for job: Job) async throws(StoreError) -> QueuePlace {
        guard index > 0 else { return .top }
        let previous = try await read { db in
            try db.value(
                Self.queueWithoutJob, [job.session.text, (job.spec.priority ?? .normal).rank, job.id.text, index - 1],
                as: String.self)
        }
        return previous.map { .after(JobID($0)) } ?? .bottom
    }

    static let queueWithoutJob = """
        SELECT id FROM jobs WHERE state <> 'running' AND session = ? AND state IN ('queued', 'waiting', 'paused')
            AND priority = ? AND id <> ?
        ORDER BY coalesce(queue_rank, id), id LIMIT 1 OFFSET ?
        """

    /// The jobs of a session in these states, in the order in which they start: by priority and rank.
    public func queue(of session: Name) async throws(StoreError) -> [JobID] {
        try await ids(Self.queue, [session.text])
    }

    static let queue = """
        SELECT id FROM jobs WHERE state <> 'running' AND session = ? AND state IN ('queued', 'waiting', 'paused')
        ORDER BY priority, coalesce(queue_rank, id), id
        """

    /// A part of this list.
    ///
    /// - Parameters:
    ///   - offset: from the beginning. A negative offset counts from the end (-1 is the last job), and the result is in the
    ///     reverse order.
    ///   - count: the largest number of jobs, 0 or more.
    public func queue(of session: Name, from offset: Int, count: Int) async throws(StoreError) -> [JobID] {
        try await ids(offset < 0 ? Self.queueFromEnd : Self.queuePart, [session.text, count, Self.skipped(offset)])
    }

    static let queuePart = queue + " LIMIT ? OFFSET ?"
    static let queueFromEnd = """
        SELECT id FROM jobs WHERE state <> 'running' AND session = ? AND state IN ('queued', 'waiting', 'paused')
        ORDER BY priority DESC, coalesce(queue_rank, id) DESC, id DESC LIMIT ? OFFSET ?
        """

    /// The number of rows before the one at an offset, from the beginning or from the end.
    private static func skipped(_ offset: Int) -> Int { offset < 0 ? -(offset + 1) : offset }

    /// The paused jobs of a session, in the same order.
    public func pausedJobs(of session: Name) async throws(StoreError) -> [JobID] {
        try await ids(Self.paused, [session.text])
    }

    static let paused = """
        SELECT id FROM jobs WHERE state <> 'running' AND session = ? AND state = 'paused'
        ORDER BY priority, coalesce(queue_rank, id), id
        """

    /// The running jobs of a session, in the order in which they were created.
    public func runningJobs(of session: Name) async throws(StoreError) -> [JobID] {
        try await ids("SELECT id FROM jobs WHERE state = 'running' AND session = ? ORDER BY id", [session.text])
    }

    /// The running jobs of all sessions and nodes, in any order.
    public func runningJobs() async throws(StoreError) -> [JobID] {
        try await ids("SELECT id FROM jobs WHERE state = 'running'", [])
    }

    /// The jobs of a session that have ended, in the order in which they have ended.
    public func endedJobs(of session: Name) async throws(StoreError) -> [JobID] {
        try await ids(Self.ended, [session.text])
    }

    static let ended = """
        SELECT id FROM jobs WHERE state <> 'running' AND session = ? AND state IN ('succeeded', 'failed', 'cancelled')
        ORDER BY finished_at, id
        """

    /// A part of this list, as of `queue(of:from:count:)`.
    public func endedJobs(of session: Name, from offset: Int, count: Int) async throws(StoreError) -> [JobID] {
        try await ids(offset < 0 ? Self.endedFromEnd : Self.endedPart, [session.text, count, Self.skipped(offset)])
    }

    static let endedPart = ended + " LIMIT ? OFFSET ?"
    static let endedFromEnd = """
        SELECT id FROM jobs WHERE state <> 'running' AND session = ? AND state IN ('succeeded', 'failed', 'cancelled')
        ORDER BY finished_at DESC, id DESC LIMIT ? OFFSET ?
        """

    private func ids(_ sql: String, _ arguments: SQLArguments) async throws(StoreError) -> [JobID] {
        try await read { db in
            try db.values(sql, arguments, as: String.self).map { JobID($0) }
        }
    }
}
