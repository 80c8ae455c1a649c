import Downloads

extension Store {
    /// Moves a job that is queued, waiting or paused. Only its own row changes.
    ///
    /// - Throws: `noSuchJob`, `revisionChanged`, `moveRefused`.
    public func moveJob(_ id: JobID, to place: QueuePosition, expecting revision: Int? = nil) async throws -> Job {
        try await writer.write { transaction in
            if let revision { try transaction.requireRevision(revision, of: id) }
            return try transaction.moveJob(id, to: place)
        }
    }

    /// The place at an index among the jobs of a session and priority that are queued, waiting or paused. It reads these
    /// jobs, on a reader's thread; the queue may change meanwhile.
    ///
    /// - Parameters:
    ///   - index: 0 is the top; an index beyond the end is the bottom.
    ///   - moved: jobs that are moved there. They are not counted.
    public func place(
        at index: Int, in session: Name, _ priority: Int, without moved: Set<JobID>
    ) async throws(StoreError) -> QueuePosition {
        guard index > 0 else { return .top }
        let queue = try await ids(Self.queueOfPriority, [session.text, priority, index + moved.count])
        let others = queue.filter { !moved.contains($0) }
        return index <= others.count ? .after(others[index - 1]) : .bottom
    }

    static let queueOfPriority = """
        SELECT id FROM jobs WHERE state <> 'running' AND session = ? AND state IN ('queued', 'waiting', 'paused')
            AND priority = ?
        ORDER BY coalesce(queue_rank, id), id LIMIT ?
        """

    /// The jobs of a session that are queued, waiting or paused, in the order in which they start: by priority and rank.
    public func queue(of session: Name) async throws(StoreError) -> [JobID] {
        try await ids(JobOrder.queue.statement(), [session.text])
    }

    /// A part of this list.
    ///
    /// - Parameters:
    ///   - offset: from the beginning. A negative offset counts from the end (-1 is the last job), and the result is in the
    ///     reverse order.
    ///   - count: the largest number of jobs, 0 or more.
    public func queue(of session: Name, from offset: Int, count: Int) async throws(StoreError) -> [JobID] {
        try await ids(.queue, of: session, from: offset, count: count)
    }

    /// The paused jobs of a session, in the same order.
    public func pausedJobs(of session: Name) async throws(StoreError) -> [JobID] {
        try await ids(JobOrder.paused.statement(), [session.text])
    }

    /// The running jobs of a session, in the order in which they were created.
    public func runningJobs(of session: Name) async throws(StoreError) -> [JobID] {
        try await ids("SELECT id FROM jobs WHERE state = 'running' AND session = ? ORDER BY id", [session.text])
    }

    public func runningJobs() async throws(StoreError) -> [JobID] {
        try await ids("SELECT id FROM jobs WHERE state = 'running'", [])
    }

    /// The jobs of a session that have ended, in the order in which they have ended.
    public func endedJobs(of session: Name) async throws(StoreError) -> [JobID] {
        try await ids(JobOrder.ended.statement(), [session.text])
    }

    /// A part of this list, as of `queue(of:from:count:)`.
    public func endedJobs(of session: Name, from offset: Int, count: Int) async throws(StoreError) -> [JobID] {
        try await ids(.ended, of: session, from: offset, count: count)
    }

    private func ids(
        _ order: JobOrder, of session: Name, from offset: Int, count: Int
    ) async throws(StoreError) -> [JobID] {
        let skipped = offset < 0 ? -(offset + 1) : offset
        let statement = order.statement(isReversed: offset < 0) + " LIMIT ? OFFSET ?"
        return try await ids(statement, [session.text, count, skipped])
    }

    func ids(_ sql: String, _ arguments: SQLArguments) async throws(StoreError) -> [JobID] {
        try await read { db in try db.values(sql, arguments, as: String.self).map { JobID($0) } }
    }
}

private struct JobOrder {
    let states: [JobState.Kind]
    let columns: [String]

    static let queue = JobOrder(
        states: [.queued, .waiting, .paused], columns: ["priority", "coalesce(queue_rank, id)", "id"])
    static let paused = JobOrder(states: [.paused], columns: queue.columns)
    static let ended = JobOrder(states: [.succeeded, .failed, .cancelled], columns: ["finished_at", "id"])

    func statement(isReversed: Bool = false) -> String {
        let states = states.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        let order = columns.map { isReversed ? "\($0) DESC" : $0 }.joined(separator: ", ")
        return "SELECT id FROM jobs WHERE state <> 'running' AND session = ? AND state IN (\(states)) ORDER BY \(order)"
    }
}

extension Transaction {
    /// - Throws: `noSuchJob`, `moveRefused`.
    func moveJob(_ id: JobID, to place: QueuePosition) throws -> Job {
        let before = try queued(id)
        let rank = try rank(at: place, for: before)
        guard rank != before.effectiveQueueRank else { return before }
        try move(before, to: rank)
        return try job(id)
    }

    /// - Throws: `noSuchJob`; `moveRefused` for a job that is not in the queue.
    func queued(_ id: JobID) throws -> Job {
        let job = try job(id)
        guard job.state.isInQueue else { throw StoreError.moveRefused(job) }
        return job
    }

    func move(_ job: Job, to rank: QueueRank) throws {
        var moved = job
        moved.queueRank = rank
        moved.revision += 1
        try save(moved)
        try announce(.jobMoved, of: moved)
        wake(.jobs)
    }

    private func rank(at place: QueuePosition, for job: Job) throws -> QueueRank {
        switch place {
        case .top:
            guard let first = try neighbour(.next, of: QueueRank(""), for: job), first < job.effectiveQueueRank else {
                return job.effectiveQueueRank
            }
            return try roomy(QueueRank.before(first), job)
        case .bottom: return try bottomRank(for: job)
        case .before(let id):
            let next = try rankOfOther(id, for: job)
            let previous = try neighbour(.previous, of: next, for: job)
            return try roomy(
                previous == nil ? QueueRank.before(next) : previous.flatMap { QueueRank.between($0, next) }, job)
        case .after(let id):
            let previous = try rankOfOther(id, for: job)
            guard let next = try neighbour(.next, of: previous, for: job) else { return try bottomRank(for: job) }
            return try roomy(QueueRank.between(previous, next), job)
        }
    }

    /// - Parameter rank: nil: there is no room.
    private func roomy(_ rank: QueueRank?, _ job: Job) throws -> QueueRank {
        guard let rank else { throw StoreError.noRoom(for: job.id) }
        return rank
    }

    /// A new identifier: jobs that are created later come after it.
    private func bottomRank(for job: Job) throws -> QueueRank {
        let last = try neighbour(.previous, of: QueueRank("~"), for: job)
        guard let last, last > job.effectiveQueueRank else { return job.effectiveQueueRank }
        return QueueRank(of: .make(nextULID()))
    }

    func rankOfOther(_ id: JobID, for job: Job) throws -> QueueRank {
        guard id != job.id else { throw StoreError.moveRefused(job.id, why: "it cannot be moved next to itself") }
        let other: Job?
        do { other = try self.job(id) } catch StoreError.noSuchJob { other = nil }
        guard let other, other.session == job.session, other.rank == job.rank, other.state.isInQueue else {
            throw StoreError.moveRefused(
                job.id, why: "\(id) is not a queued, waiting or paused job of the same session and priority")
        }
        return other.effectiveQueueRank
    }

    enum Direction { case previous, next }

    /// The rank next to a rank, of the jobs of the same session and priority.
    func neighbour(_ direction: Direction, of rank: QueueRank, for job: Job) throws -> QueueRank? {
        try db.value(
            Self.neighbour(direction),
            ["session": job.session.text, "priority": job.rank, "rank": rank.text, "id": job.id.text], as: String.self
        ).map { QueueRank($0) }
    }

    /// Looks at the moved jobs in any state, and at the first unmoved job in each state. Each is a step in an index.
    static func neighbour(_ direction: Direction) -> String {
        let (function, comparison, order) =
            switch direction {
            case .previous: ("max", "<", "DESC")
            case .next: ("min", ">", "ASC")
            }
        let unmoved = ["queued", "waiting", "paused"].map { state in
            """
            UNION ALL SELECT (
                SELECT id FROM jobs WHERE state <> 'running' AND state = '\(state)' AND session = :session
                    AND id \(comparison) :rank AND id <> :id AND priority = :priority AND queue_rank IS NULL
                ORDER BY id \(order) LIMIT 1)
            """
        }
        return """
            SELECT \(function)(rank) AS rank FROM (
                SELECT (
                    SELECT queue_rank FROM jobs WHERE session = :session AND priority = :priority
                        AND queue_rank IS NOT NULL AND queue_rank \(comparison) :rank AND id <> :id
                    ORDER BY queue_rank \(order) LIMIT 1) AS rank
                \(unmoved.joined(separator: "\n"))
            ) AS neighbours
            """
    }
}

extension StoreError {
    /// - Parameter job: is not in the queue.
    public static func moveRefused(_ job: Job) -> StoreError {
        .moveRefused(
            job.id,
            why: "it is \(job.state.name.rawValue); a job can be moved while it is queued, waiting or paused")
    }

    static func noRoom(for job: JobID) -> StoreError {
        .moveRefused(job, why: "too many jobs were moved to this place; move it to another place")
    }
}
