import Downloads

/// A request of another node for an attempt that runs here.
public struct AttemptRequest: Sendable {
    public var job: JobID
    /// `Job.admissions` of the attempt. The next attempt of the job is not meant.
    public var admission: Int
    /// nil: the specification of the job has changed.
    public var stop: AttemptStop?
}

extension Store {
    /// The requests of other nodes for attempts of this one.
    public func attemptRequests() async throws(StoreError) -> [AttemptRequest] {
        guard let node else { return [] }
        return try await read { db in
            try db.rows(Self.requestsOfNode, [node.number]).map { row in
                AttemptRequest(
                    job: JobID(row["job"]), admission: row["admissions"],
                    stop: try (row["stop"] as String?).map(StoredStop.stop))
            }
        }
    }

    /// The commit that ends an attempt removes its request, so each request belongs to the last admission of its job.
    private static let requestsOfNode = """
        SELECT attempt_requests.job AS job, attempt_requests.stop AS stop, jobs.admissions AS admissions
        FROM attempt_requests JOIN jobs ON jobs.id = attempt_requests.job
        WHERE attempt_requests.node = ? ORDER BY attempt_requests.job
        """

    /// Reads jobs whose specifications other nodes have changed, and forgets their requests. A request to stop is forgotten with
    /// the end of its attempt.
    ///
    /// - Parameter onCommit: see `Writer.write`.
    public func takeChangedSpecifications(of jobs: [JobID], onCommit: @escaping @Sendable ([Job]) -> Void) async throws
    {
        guard !jobs.isEmpty else { return }
        _ = try await writer.write(onCommit: onCommit) { try $0.takeChangedSpecifications(of: jobs) }
    }
}
