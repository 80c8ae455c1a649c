import Downloads
import Foundation

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
                try AttemptRequest(
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
    public func consumeChangedSpecifications(of jobs: [JobID], onCommit: @escaping @Sendable ([Job]) -> Void)
        async throws
    {
        guard !jobs.isEmpty else { return }
        _ = try await writer.write(onCommit: onCommit) { transaction in
            try jobs.compactMap { id in
                try transaction.run("DELETE FROM attempt_requests WHERE job = ? AND stop IS NULL", [id.text])
                do { return try transaction.job(id) } catch StoreError.noSuchJob { return nil }
            }
        }
    }
}

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
}

/// How `attempt_requests` stores the stop of an attempt.
enum StoredStop {
    static func text(of stop: AttemptStop) throws -> String {
        switch stop {
        case .asked(.pause): "pause"
        case .asked(.cancel(keepsPart: false)): "cancel"
        case .asked(.cancel(keepsPart: true)): "cancel_keeping_part"
        case .overdue(let failure): try Stored.text(failure)
        }
    }

    static func stop(_ text: String) throws -> AttemptStop {
        switch text {
        case "pause": .asked(.pause)
        case "cancel": .asked(.cancel(keepsPart: false))
        case "cancel_keeping_part": .asked(.cancel(keepsPart: true))
        default: .overdue(try Stored.value(Failure.self, from: text))
        }
    }
}

extension Store {
    /// Waits until the job has changed, at most about a second. Another node changes it.
    ///
    /// - Throws: `CancellationError`.
    public func waitForChange(of job: Job) async throws {
        let end = time.uptime + .seconds(1)
        while time.uptime < end {
            // The job is in the cache until the other node has changed it, so this reads memory.
            guard let present = try? await self.job(job.id), present.revision == job.revision else { return }
            try await time.sleep(untilUptime: time.uptime + .milliseconds(10))
        }
    }
}
