import Downloads

/// A job that runs at this node, as the database has it.
public struct OwnJob: Sendable, Hashable {
    public var job: JobID
    /// See `Job.admissions`.
    public var admission: Int
    /// Whether its file is being promoted.
    public var isPromoting: Bool
}

extension Store {
    /// The jobs that run at this node, as the database has them; none in a database of one service.
    public func ownJobs() async throws(StoreError) -> Set<OwnJob> {
        guard let node else { return [] }
        return try await read { db in
            Set(
                try db.rows(Self.selectOwnJobs, [node.number]).map { row in
                    OwnJob(job: JobID(row["id"]), admission: row["admissions"], isPromoting: row["is_promoting"])
                })
        }
    }

    /// Queues jobs of this node again that have no attempt. It costs them neither an attempt nor a delay, as a stop of the service.
    ///
    /// - Parameter isIncluded: called on the writer's thread, between the commits of this node. The other jobs are left out.
    /// - Returns: the number of queued jobs.
    public func interrupt(
        _ jobs: Set<OwnJob>, where isIncluded: @escaping @Sendable (OwnJob) -> Bool
    ) async throws -> Int {
        guard node != nil, !jobs.isEmpty else { return 0 }
        return try await writer.write { try $0.interrupt(jobs.filter(isIncluded)) }
    }

    private static let selectOwnJobs = """
        SELECT id, admissions, CASE WHEN promotion IS NULL THEN 0 ELSE 1 END AS is_promoting
        FROM jobs WHERE state = 'running' AND node = ?
        """
}

extension Transaction {
    fileprivate func interrupt(_ jobs: Set<OwnJob>) throws -> Int {
        var count = 0
        for own in jobs.sorted(by: { $0.job.text < $1.job.text }) {
            guard let job = try? job(own.job), job.node == node?.number, job.admissions == own.admission,
                case .running(.attempting) = job.state
            else { continue }
            _ = try transitionJob(job, on: .attemptInterrupted)
            count += 1
        }
        return count
    }
}
