import Downloads
import Formats
import Foundation

/// How long jobs are kept after their end, in seconds.
public struct FinishedRetention: Sendable, Equatable {
    /// For jobs of batches whose finish is acknowledged, or needs no acknowledgement.
    public var acknowledged: TimeInterval
    /// For all other jobs: a consumer may still come to ask for them.
    public var unacknowledged: TimeInterval
    public var deletesFiles: Bool

    public init(acknowledged: TimeInterval, unacknowledged: TimeInterval, deletesFiles: Bool = false) {
        self.acknowledged = acknowledged
        self.unacknowledged = max(acknowledged, unacknowledged)
        self.deletesFiles = deletesFiles
    }
}

extension Store {
    /// Looks through the oldest jobs for those that a retention no longer keeps. It reads a bounded number of rows, so that
    /// a pass over many jobs that are kept takes many short reads.
    ///
    /// - Parameter cursor: the last job that an earlier call has looked at; nil: begin with the oldest.
    /// - Returns: the jobs to delete, and the cursor of the next call; nil when all jobs were looked at.
    public func finishedJobs(
        past retention: FinishedRetention, after cursor: JobID? = nil, scanning limit: Int = 1000
    ) async throws(StoreError) -> (jobs: [Job], next: JobID?) {
        let now = time.now
        guard time.confidence.allowsRemoval(ofDataKeptFor: retention.acknowledged, at: now) else { return ([], nil) }
        return try await read { [sealer] db in
            let now = now.addingTimeInterval(-(try Self.excessAge(in: db)))
            let (latest, surely) = (
                now.addingTimeInterval(-retention.acknowledged), now.addingTimeInterval(-retention.unacknowledged)
            )
            let rows = try db.rows(
                Self.oldestJobs,
                [
                    "cursor": cursor?.text ?? "", "end": JobID.make(.lowest(at: latest)).text, "limit": limit,
                    "latest": latest.milliseconds, "surely": surely.milliseconds,
                ])
            let due = try rows.filter { try $0["is_due"] }.map { try JobID($0["id"]) }
            let next = rows.count == limit ? try rows.last.map { try JobID($0["id"]) } : nil
            return (try due.compactMap { try JobRow.job($0, in: db, sealer) }, next)
        }
    }

    /// Whether a job that was read earlier still exists, and has not run again. It reads the database, because another
    /// service may have deleted a job that is still in the cache.
    public func hasFinished(asDid job: Job) async throws(StoreError) -> Bool {
        try await read { db in
            let present = try db.row("SELECT finished_at FROM jobs WHERE id = ?", [job.id.text])
            return try present.map { try $0.optionalTime("finished_at") == job.finishedAt } ?? false
        }
    }

    /// Deletes those jobs that have ended and did not change since, like `deleteJob`, in one commit, and returns them.
    ///
    /// - Parameter applies: whether the retention still applies. It is called on the writer's thread, because a client can
    ///   change the retention before the write begins.
    public func deleteFinishedJobs(
        _ jobs: [Job], removingFilesElsewhere removesFilesElsewhere: Bool = false,
        while applies: @escaping @Sendable () -> Bool = { true }
    ) async throws -> [Job] {
        try await writer.write { transaction in
            guard applies() else { return [] }
            return try jobs.filter { job in
                guard let present = try? transaction.job(job.id), present.finishedAt == job.finishedAt else {
                    return false
                }
                guard try transaction.deleteJob(job.id) != nil else { return false }
                if removesFilesElsewhere { try transaction.dropFile(of: job) }
                return true
            }
        }
    }

    /// A job ends after its creation, and its identifier begins with the time of its creation. So only the jobs below `end`
    /// can be old enough. A job whose batch is not finished need not wait either, if its session expects no acknowledgement; but
    /// the finish names the jobs that failed.
    static let oldestJobs = """
        SELECT jobs.id, jobs.finished_at IS NOT NULL AND (
            jobs.finished_at <= :surely OR (jobs.finished_at <= :latest AND CASE batches.state
                WHEN 'acknowledged' THEN 1 = 1
                WHEN 'finished' THEN batches.is_awaited = 0
                ELSE sessions.expects_acknowledgement = 0 AND jobs.state <> 'failed' END)) AS is_due
        FROM jobs LEFT JOIN sessions ON sessions.id = jobs.session
            LEFT JOIN batches ON batches.session = jobs.session AND batches.number = jobs.batch
        WHERE jobs.id > :cursor AND jobs.id < :end ORDER BY jobs.id LIMIT :limit
        """

    /// Seconds by which jumps of the clock make jobs look older than they are, at most.
    private static func excessAge(in db: SQLConnection) throws -> TimeInterval {
        let sum = try db.value("SELECT coalesce(sum(by), 0) FROM clock_jumps WHERE by > 0", as: Int64.self)
        return Double(sum ?? 0) / 1000
    }
}
