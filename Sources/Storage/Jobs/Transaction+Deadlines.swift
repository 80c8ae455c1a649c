import Downloads
import Formats
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

    /// The signal with which an attempt ends. While an overdue attempt was being stopped, a client may have extended or
    /// removed the deadline: then the job goes on.
    func ending(_ signal: JobSignal, of job: Job) -> JobSignal {
        guard case .attemptFailed(let failure) = signal, failure.code == .deadlineExceeded else { return signal }
        // The clock of the node that has decided the stop can be slightly ahead.
        let present = max(now.milliseconds, failure.at.milliseconds)
        let isOverdue = job.failsAt.map { $0.milliseconds <= present } ?? false
        return isOverdue ? signal : .attemptInterrupted
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
