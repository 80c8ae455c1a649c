import Downloads
import Formats
import Foundation

extension Transaction {
    /// The limit keeps the transaction short. The remaining jobs are due again at once.
    func endWaits(limit: Int = 500) throws {
        if try changedRows(Self.releaseHeld, clientTimes + ["limit": limit]) == limit { wake(.jobs) }
        let due = try jobs(Self.endedWaits, ["now": now.milliseconds, "limit": limit])
        try transitionJobs(due.map { ($0, .waitEnded) })
    }

    /// The jobs come first, so that an estimate of their number does not decide how their parts are found.
    static let endedWaits = """
        \(JobRow.select)WHERE jobs.id IN (SELECT id FROM jobs WHERE retry_at <= :now ORDER BY retry_at LIMIT :limit)
        ORDER BY jobs.retry_at
        """

    static let releaseHeld = """
        UPDATE jobs SET held_until = NULL WHERE id IN (
            SELECT id FROM jobs WHERE held_until <= :now AND (held_until <= :surely OR created_at >= :jump)
            ORDER BY held_until LIMIT :limit)
        """

    /// - Returns: whether there may be more such waits.
    func endStorageWaits(limit: Int) throws -> Bool {
        let ended = try rows(Self.endStorageWaits, ["now": now.milliseconds, "limit": limit])
        for row in ended { forget(JobID(row["id"])) }
        wake(.jobs)
        return ended.count == limit
    }

    static let endStorageWaits = """
        UPDATE jobs SET retry_at = :now WHERE id IN (
            SELECT id FROM jobs WHERE retry_at > :now AND reason = 'storage' ORDER BY retry_at LIMIT :limit)
        RETURNING id
        """

    /// - Parameters:
    ///   - quotas: notes the admitted jobs.
    ///   - sharesDownloads: whether this node can continue the parts of the others.
    func admitJobs(
        _ limits: AdmissionLimits, _ quotas: inout AdmissionQuotas, sharesDownloads: Bool = true
    ) throws -> [AdmittedJob] {
        var slots = try slots(limits)
        let owners = sharesDownloads || slots.free <= 0 ? [] : try otherNodes()
        var queue = AdmissionQueue(self, without: quotas.exhausted, leavingTo: owners)
        var admitted: [AdmittedJob] = []
        var configurations: [Name: SessionConfiguration] = [:]
        while slots.free > 0 {
            guard let session = try queue.nextSession(slots) else { break }
            let configuration = try configurations[session] ?? self.configuration(of: session)
            configurations[session] = configuration
            guard let candidate = try queue.takeFirstJob(of: session, slots, configuration) else {
                queue.skip(session)
                continue
            }
            slots.take(session, host: candidate.host)
            let begun = try begin(candidate.job, configuration)
            admitted.append(begun)
            if quotas.begin(begun.job) { queue.leaveOut(quotas.exhausted) }
        }
        return admitted
    }

    /// The other nodes that have a lease.
    private func otherNodes() throws -> Set<Int64> {
        guard let node else { return [] }
        let numbers = try rows(
            "SELECT number FROM nodes WHERE expires_at IS NOT NULL AND number <> ?", [node.number])
        return Set(numbers.map { $0["number"] as Int64 })
    }

    func slots(_ limits: AdmissionLimits) throws -> AdmissionSlots {
        guard let node else { return try AdmissionSlots(running: rows(AdmissionSlots.running), limits: limits) }
        var limits = limits
        limits.taken = try additionalConnections(opened: limits.taken)
        return try AdmissionSlots(running: rows(AdmissionSlots.runningOnNodes, [node.number]), limits: limits)
    }

    private func begin(_ id: JobID, _ configuration: SessionConfiguration) throws -> AdmittedJob {
        var job = try job(id)
        let spec = ResolvedSpec(job, in: configuration)
        job.resourceTime = job.resourceTime ?? .running(until: now.addingTimeInterval(spec.resourceSeconds))
        job.node = node?.number
        let limited = spec.limited(to: try roomInSession(for: job, configuration))
        return AdmittedJob(job: try transitionJob(job, on: .admitted).job, spec: limited)
    }
}
