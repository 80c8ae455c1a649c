import Downloads
import Foundation
import GRDB

extension Transaction {
    func failOverdueJobs(_ limit: Int) throws -> [SignalOutcome] {
        try rows(
            """
            SELECT id FROM jobs WHERE fails_at <= :now
                AND (resource_until <= :now OR deadline <= :surely OR (deadline <= :now AND created_at >= :jump))
            ORDER BY fails_at LIMIT :limit
            """, clientTimes + ["limit": limit]
        ).map { row in
            let job = try job(JobID(row["id"]))
            return try transitionJob(job, on: .timeElapsed(job.overdue(at: now, confidence)))
        }
    }
}

extension Job {
    fileprivate func overdue(at now: Date, _ confidence: ClockConfidence) -> Failure {
        let why =
            spec.deadline.map { confidence.hasCome($0, namedAt: createdAt, at: now) } ?? false
            ? "The deadline passed before the download ended."
            : "The download has taken longer than timeouts.resource_seconds allows."
        return Failure(.deadlineExceeded, why, attempts: attempts, at: now)
    }
}
