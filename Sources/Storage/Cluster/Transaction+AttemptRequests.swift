import Downloads

/// Requests to the node on which a job runs, from the nodes that clients call.
extension Transaction {
    /// Asks the node on which the job runs to stop the attempt, unless that is this node.
    func requestStop(of job: Job, _ effects: [JobEffect]) throws {
        for case .stopAttempt(let stop) in effects { try request(try StoredStop.text(of: stop), for: job) }
    }

    /// Tells the node on which the job runs that the specification has changed.
    func noteChangedSpecification(of job: Job) throws {
        if job.state.name == .running { try request(nil, for: job) }
    }

    /// A client that waits for the stop sends the request again and again. Only a new or another one needs a commit.
    private func request(_ stop: String?, for job: Job) throws {
        guard let node, let other = job.node, other != node.number else { return }
        guard try changedRows(Self.storeRequest, [job.id.text, other, stop]) > 0 else { return }
        wake(.attempts)
    }

    private static let storeRequest = """
        INSERT INTO attempt_requests (job, node, stop) VALUES (?1, ?2, ?3)
        ON CONFLICT (job) DO UPDATE SET node = ?2, stop = coalesce(?3, attempt_requests.stop)
        WHERE attempt_requests.node <> ?2 OR attempt_requests.stop IS NOT coalesce(?3, attempt_requests.stop)
        """

    /// The attempt has ended.
    func forgetRequests(for job: Job) throws {
        guard node != nil else { return }
        try run("DELETE FROM attempt_requests WHERE job = ?", [job.id.text])
    }

    /// The specifications of these jobs, and forgets that others have changed them.
    func takeChangedSpecifications(of jobs: [JobID]) throws -> [Job] {
        try jobs.compactMap { id in
            try run("DELETE FROM attempt_requests WHERE job = ? AND stop IS NULL", [id.text])
            do { return try job(id) } catch StoreError.noSuchJob { return nil }
        }
    }
}
