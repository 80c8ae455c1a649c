import Downloads

/// A request of another node for an attempt that runs here.
public struct AttemptRequest: Sendable {
    public var job: JobID
    /// nil: the specification of the job has changed.
    public var stop: AttemptStop?
}

extension Store {
    /// The requests of other nodes for attempts of this one.
    public func attemptRequests() async throws(StoreError) -> [AttemptRequest] {
        guard let node else { return [] }
        return try await read { db in
            try db.rows("SELECT job, stop FROM attempt_requests WHERE node = ? ORDER BY job", [node.number]).map {
                row in
                AttemptRequest(job: JobID(row["job"]), stop: try (row["stop"] as String?).map(StoredStop.stop))
            }
        }
    }

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
