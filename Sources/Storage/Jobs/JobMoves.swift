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
            try transaction.move(jobs[...], to: place, &record)
            try transaction.store(&record)
            return record
        }
    }
}

extension Transaction {
    fileprivate func move(_ jobs: ArraySlice<JobID>, to place: QueuePosition, _ record: inout ActionRecord) throws {
        switch place {
        case .top: for job in jobs.reversed() { try move(job, to: place, &record) }
        case .bottom: for job in jobs { try move(job, to: place, &record) }
        case .before, .after:
            // Jobs that cannot be moved are no neighbours.
            let movable = try jobs.filter { try isInQueue($0) && !place.isNext(to: $0) }
            let known = Set(movable)
            for job in jobs where !known.contains(job) { try move(job, to: place, &record) }
            try moveByHalves(movable[...], to: place, &record)
        }
    }

    /// Begins in the middle, so that ranks grow with the logarithm of the number of jobs.
    private func moveByHalves(_ jobs: ArraySlice<JobID>, to place: QueuePosition, _ record: inout ActionRecord) throws {
        guard !jobs.isEmpty else { return }
        let middle = jobs.startIndex + jobs.count / 2
        guard try move(jobs[middle], to: place, &record) else {
            for job in jobs where job != jobs[middle] { try move(job, to: place, &record) }
            return
        }
        try moveByHalves(jobs[..<middle], to: .before(jobs[middle]), &record)
        try moveByHalves(jobs[(middle + 1)...], to: .after(jobs[middle]), &record)
    }

    /// - Returns: false if the job is refused.
    @discardableResult
    private func move(_ job: JobID, to place: QueuePosition, _ record: inout ActionRecord) throws -> Bool {
        try record.count(job) {
            let before = try self.job(job).revision
            return try moveJob(job, to: place).revision != before
        }
    }

    private func isInQueue(_ id: JobID) throws -> Bool { try jobs([id]).first?.state.isInQueue ?? false }
}

extension QueuePosition {
    fileprivate func isNext(to job: JobID) -> Bool { self == .before(job) || self == .after(job) }
}
