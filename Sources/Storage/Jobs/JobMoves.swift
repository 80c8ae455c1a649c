import Downloads

/// Jobs of one session and priority, in the order in which they are to start, and the place that they are moved to.
public struct JobMove: Sendable {
    private var jobs: [JobID]
    private let place: QueuePosition

    public init(_ jobs: [JobID], to place: QueuePosition) { (self.jobs, self.place) = (jobs, place) }

    /// Takes the jobs of the next step. Each step is moved to the same place, so that no step needs a job of an earlier one,
    /// which may have started meanwhile: before a job and to the bottom, the first jobs come first, else the last ones.
    public mutating func next(_ limit: Int = 1000) -> [JobID] {
        let count = min(limit, jobs.count)
        switch place {
        case .bottom, .before:
            defer { jobs.removeFirst(count) }
            return Array(jobs.prefix(count))
        case .top, .after:
            defer { jobs.removeLast(count) }
            return Array(jobs.suffix(count))
        }
    }
}

extension Store {
    /// Moves jobs, which stand together afterwards, in their order.
    ///
    /// - Parameter jobs: of one session and priority. Those that are no longer in the queue are refused.
    public func move(_ jobs: [JobID], to place: QueuePosition, _ record: ActionRecord) async throws -> ActionRecord {
        try await writer.write { transaction in
            var record = record
            try transaction.move(jobs, to: place, &record)
            try transaction.store(&record)
            return record
        }
    }
}

extension Transaction {
    fileprivate func move(_ ids: [JobID], to place: QueuePosition, _ record: inout ActionRecord) throws {
        var movable: [Job] = []
        for id in ids {
            try record.tryTo(id) { movable.append(try requireMovable(id, to: place)) }
        }
        guard let first = movable.first else { return }
        guard let ranks = try ranks(at: place, of: movable.count, like: first) else {
            for job in movable { record.refuse(job.id, StoreError.noRoom(for: job.id)) }
            return
        }
        for (job, rank) in zip(movable, ranks) {
            try move(job, to: rank)
            record.counts.changed += 1
        }
    }

    /// - Throws: `noSuchJob`, `moveRefused`.
    private func requireMovable(_ id: JobID, to place: QueuePosition) throws -> Job {
        let job = try queued(id)
        switch place {
        case .top, .bottom: break
        case .before(let other), .after(let other): _ = try rankOfOther(other, for: job)
        }
        return job
    }

    /// Ascending ranks at a place; nil if there is no room.
    private func ranks(at place: QueuePosition, of count: Int, like job: Job) throws -> [QueueRank]? {
        switch place {
        case .bottom: return (0..<count).map { _ in QueueRank(of: .make(nextULID())) }
        case .top:
            return QueueRank.before(try neighbour(.next, of: QueueRank(""), for: job) ?? QueueRank(of: job.id), count)
        case .before(let other):
            let next = try rankOfOther(other, for: job)
            guard let previous = try neighbour(.previous, of: next, for: job) else {
                return QueueRank.before(next, count)
            }
            return QueueRank.between(previous, next, count)
        case .after(let other):
            let previous = try rankOfOther(other, for: job)
            guard let next = try neighbour(.next, of: previous, for: job) else {
                return try ranks(at: .bottom, of: count, like: job)
            }
            return QueueRank.between(previous, next, count)
        }
    }
}
