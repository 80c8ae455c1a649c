import Downloads
import Formats
import Foundation

extension Transaction {
    func expireParts() throws -> [PartID] {
        try rows(
            "SELECT id, job, bytes_durable FROM parts WHERE expires_at <= ? AND lifetime <= ?",
            [now.milliseconds, confidence.longestRemovableLifetime(at: now)]
        ).map(forget)
    }

    /// Removes the oldest parts first. Parts of running jobs are not resume data and stay.
    func evictParts(_ limits: PartLimits) throws -> [PartID] {
        let parts = try rows(
            """
            SELECT parts.id, parts.job, bytes_durable FROM parts JOIN jobs ON jobs.id = parts.job
            WHERE jobs.state <> 'running' ORDER BY parts.id
            """)
        let (bytes, count) = (limits.bytes ?? .max, limits.count ?? .max)
        var excess = parts.reduce(0) { $0 + ($1["bytes_durable"] as Int64) } - bytes
        var evicted: [PartID] = []
        for part in parts where excess > 0 || parts.count - evicted.count > count {
            excess -= part["bytes_durable"] as Int64
            evicted.append(try forget(part))
        }
        return evicted
    }

    /// Removes the part and sets `part_lost`, so that the job reports the restart like any other loss of bytes.
    /// `disproved` is about the removed bytes, so it is cleared.
    private func forget(_ part: SQLRow) throws -> PartID {
        var job = try job(JobID(part["job"]))
        job.revision += 1
        job.isPartLost = (part["bytes_durable"] as Int64) > 0
        job.isDisproved = false
        job.part = nil
        try save(job)
        return PartID(part["id"])
    }

    /// Moves the part of an idle job to a job that is being created.
    ///
    /// - Parameters:
    ///   - index: the index of the new job in its request.
    ///   - creator: if it cannot see the donor, the error is that of a donor that does not exist.
    /// - Throws: `noResumeData`.
    func adoptPart(of donor: JobID, by heir: Job, at index: Int, _ creator: JobCreator) throws {
        guard var job = try? job(donor), creator.visible.contain(job.session) else {
            throw StoreError.noResumeData(donor, why: "the job does not exist", index: index)
        }
        switch job.state {
        case .paused, .failed, .cancelled: break
        case .queued, .running, .waiting, .succeeded:
            throw StoreError.noResumeData(
                donor, why: "the job is \(job.state.name.rawValue), not paused, failed or cancelled", index: index)
        }
        guard var part = job.part else {
            throw StoreError.noResumeData(donor, why: "the job has no resume data", index: index)
        }
        part.expiry.countdown = (part.expiry.countdown ?? .stopped(left: part.expiry.lifetime)).running(at: now)
        job.part = nil
        job.revision += 1
        try save(job)
        var heir = heir
        heir.part = part
        try save(heir)
    }
}
