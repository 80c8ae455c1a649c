import Downloads

/// Moves jobs within the queue of their session and priority. A move writes one row.
extension Transaction {
    /// - Throws: `noSuchJob`, `moveRefused`.
    func moveJob(_ id: JobID, to place: QueuePlace) throws -> Job {
        let before = try job(id)
        guard before.state.isInQueue else {
            throw StoreError.moveRefused(
                id,
                why: "it is \(before.state.name.rawValue); a job can be moved while it is queued, waiting or paused")
        }
        let rank = try rank(at: place, for: before)
        guard rank != before.effectiveQueueRank else { return before }
        var moved = before
        moved.queueRank = rank
        moved.revision += 1
        try save(moved)
        try announce(.jobMoved, of: moved)
        wake(.jobs)
        return try job(id)
    }

    private func rank(at place: QueuePlace, for job: Job) throws -> QueueRank {
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
        guard let rank else {
            throw StoreError.moveRefused(
                job.id, why: "too many jobs were moved to this place; move it to another place")
        }
        return rank
    }

    /// A new identifier: jobs that are created later come after it.
    private func bottomRank(for job: Job) throws -> QueueRank {
        let last = try neighbour(.previous, of: QueueRank("~"), for: job)
        guard let last, last > job.effectiveQueueRank else { return job.effectiveQueueRank }
        return QueueRank(of: .make(nextULID()))
    }

    private func rankOfOther(_ id: JobID, for job: Job) throws -> QueueRank {
        guard id != job.id else {
            throw StoreError.moveRefused(job.id, why: "it cannot be moved next to itself")
        }
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
    private func neighbour(_ direction: Direction, of rank: QueueRank, for job: Job) throws -> QueueRank? {
        let found = try row(
            Self.neighbour(direction),
            ["session": job.session.text, "priority": job.rank, "rank": rank.text, "id": job.id.text])
        return (found?["rank"] as String?).map { QueueRank($0) }
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
