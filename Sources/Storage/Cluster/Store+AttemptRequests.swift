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

    /// Forgets requests to read specifications again. A request to stop is forgotten with the end of its attempt.
    public func forgetReadings(of jobs: [JobID]) async throws {
        guard !jobs.isEmpty else { return }
        try await writer.write { try $0.forgetReadings(of: jobs) }
    }
}
