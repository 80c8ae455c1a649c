import Downloads
import Formats
import Foundation
import GRDB

extension Transaction {
    func expireParts() throws -> [PartID] {
        try rows(
            "SELECT id, job, bytes_durable FROM parts WHERE expires_at <= ? AND lifetime <= ?",
            [now.milliseconds, confidence.longestRemovableLifetime(at: now)]
        ).map(forget)
    }

    /// Removes the oldest parts first. Parts of running jobs are not resume data and stay.
    func evictParts(over limit: Int64) throws -> [PartID] {
        let parts = try rows(
            """
            SELECT parts.id, parts.job, bytes_durable FROM parts JOIN jobs ON jobs.id = parts.job
            WHERE jobs.state <> 'running' ORDER BY parts.id
            """)
        var excess = parts.reduce(0) { $0 + ($1["bytes_durable"] as Int64) } - limit
        var evicted: [PartID] = []
        for part in parts where excess > 0 {
            excess -= part["bytes_durable"] as Int64
            evicted.append(try forget(part))
        }
        return evicted
    }

    /// Removes the part and sets `part_lost`, so that the job reports the restart like any other loss of bytes.
    /// `disproved` is about the removed bytes, so it is cleared.
    private func forget(_ part: Row) throws -> PartID {
        let job = try job(JobID(part["job"]))
        count(job, job.having(nil))
        try removePart(PartID(part["id"]))
        try run(
            "UPDATE jobs SET revision = revision + 1, part_lost = ?, disproved = 0 WHERE id = ?",
            [(part["bytes_durable"] as Int64) > 0, job.id.text])
        touch(job.id)
        return PartID(part["id"])
    }

    /// Moves the part of an idle job to a job that is being created.
    ///
    /// - Parameter index: the index of the new job in its request.
    /// - Throws: `noResumeData`.
    func adoptPart(of donor: JobID, by heir: Job, at index: Int) throws {
        guard let row = try row(JobRow.select + "WHERE jobs.id = ?", [donor.text]) else {
            throw StoreError.noResumeData(donor, why: "the job does not exist", index: index)
        }
        let job = try JobRow.job(row)
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
        try run("UPDATE parts SET job = ? WHERE id = ?", [heir.id.text, part.id.text])
        try run("UPDATE jobs SET revision = revision + 1 WHERE id = ?", [donor.text])
        try updateExpiry(of: part)
        count(job, job.having(nil))
        count(heir, heir.having(part))
        touch(donor)
        touch(heir.id)
    }
}
