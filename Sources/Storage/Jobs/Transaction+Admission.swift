import Downloads
import Formats
import Foundation
import GRDB

extension Transaction {
    func endWaits() throws {
        try run(
            """
            UPDATE jobs SET held_until = NULL
            WHERE held_until <= :now AND (held_until <= :surely OR created_at >= :jump)
            """,
            clientTimes)
        // A limit keeps the transaction short. Jobs that are left over are due again at once.
        let due = try rows(
            "SELECT id FROM jobs WHERE retry_at IS NOT NULL AND retry_at <= ? ORDER BY retry_at LIMIT 500",
            [now.milliseconds])
        for row in due { _ = try transitionJob(JobID(row["id"]), on: .waitEnded) }
    }

    func endStorageWaits() throws {
        let ended = try rows(
            "UPDATE jobs SET retry_at = ? WHERE retry_at IS NOT NULL AND reason = 'storage' RETURNING id",
            [now.milliseconds])
        for row in ended { touch(JobID(row["id"])) }
        wake(.jobs)
    }

    func nextWaitEnds() throws -> Date? {
        let next = try row(Self.nextWait, [now.milliseconds])?.optionalTime("at")
        guard confidence.doubt(at: now) > 0 else { return next }
        // The clock is in doubt: some jobs may be held although their time has come.
        let look = now.addingTimeInterval(Store.longestPollInterval)
        return min(next ?? look, look)
    }

    static let nextWait = """
        SELECT min(at) AS at FROM (
            SELECT min(retry_at) AS at FROM jobs WHERE retry_at IS NOT NULL
            UNION ALL SELECT min(held_until) FROM jobs WHERE held_until > ? AND state = 'queued')
        """

    func admitJobs(_ limits: AdmissionLimits) throws -> [AdmittedJob] {
        var slots = try AdmissionSlots(running: rows(AdmissionSlots.running), limits: limits)
        var queue = AdmissionQueue(self)
        var admitted: [AdmittedJob] = []
        var configurations: [Name: SessionConfiguration] = [:]
        while slots.free > 0 {
            guard let session = try queue.nextSession(slots) else { break }
            let configuration = try configurations[session] ?? self.configuration(of: session)
            configurations[session] = configuration
            guard let candidate = try queue.oldestJob(of: session, slots, configuration) else {
                queue.skip(session)
                continue
            }
            slots.take(session, host: candidate.host)
            admitted.append(try begin(candidate.job, configuration))
        }
        return admitted
    }

    private func begin(_ id: JobID, _ configuration: SessionConfiguration) throws -> AdmittedJob {
        var job = try job(id)
        let spec = ResolvedSpec(job, in: configuration)
        job.resourceTime = job.resourceTime ?? .running(until: now.addingTimeInterval(spec.resourceSeconds))
        return AdmittedJob(job: try transitionJob(job, on: .admitted).job, spec: spec)
    }
}
