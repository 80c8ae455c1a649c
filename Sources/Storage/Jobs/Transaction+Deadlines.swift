import Downloads
import Foundation

extension Transaction {
    func failOverdueJobs(_ limit: Int) throws -> [SignalOutcome] {
        let overdue = try jobs(Self.overdueJobs, clientTimes + ["limit": limit])
        return try transitionJobs(overdue.map { ($0, .timeElapsed($0.overdue(at: now, confidence))) })
    }

    static let overdueJobs =
        JobRow.select + """
            WHERE fails_at <= :now
                AND (resource_until <= :now OR deadline <= :surely OR (deadline <= :now AND created_at >= :jump))
            ORDER BY fails_at LIMIT :limit
            """
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
