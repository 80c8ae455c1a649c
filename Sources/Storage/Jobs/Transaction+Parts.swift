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

    /// Oldest first; parts that grow are not resume data yet.
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

    /// Leaves a mark on the job, which may go on: that it begins anew is told, as with every other loss of bytes. Whatever
    /// was found wrong before has nothing to do with it.
    private func forget(_ part: Row) throws -> PartID {
        try removePart(PartID(part["id"]))
        try run(
            "UPDATE jobs SET revision = revision + 1, part_lost = ?, disproved = 0 WHERE id = ?",
            [(part["bytes_durable"] as Int64) > 0, part["job"] as String])
        touch(JobID(part["job"]))
        return PartID(part["id"])
    }

    /// Gives the part of a job that is at rest to one that is being created.
    ///
    /// - Parameter index: the heir's place among those that are asked for.
    /// - Throws: `noResumeData`.
    func adoptPart(of donor: JobID, by heir: JobID, at index: Int) throws {
        guard let row = try row(JobRow.select + "WHERE jobs.id = ?", [donor.text]) else {
            throw StoreError.noResumeData(donor, why: "there is no such job", index: index)
        }
        let job = try JobRow.job(row)
        switch job.state {
        case .paused, .failed, .cancelled: break
        case .queued, .running, .waiting, .succeeded:
            throw StoreError.noResumeData(
                donor, why: "it is \(job.state.name.rawValue), not paused, failed or cancelled", index: index)
        }
        guard var part = job.part else { throw StoreError.noResumeData(donor, why: "it has none", index: index) }
        part.expiry.countdown = (part.expiry.countdown ?? .stopped(left: part.expiry.lifetime)).running(at: now)
        try run("UPDATE parts SET job = ? WHERE id = ?", [heir.text, part.id.text])
        try run("UPDATE jobs SET revision = revision + 1 WHERE id = ?", [donor.text])
        try updateExpiry(of: part)
        touch(donor)
        touch(heir)
    }
}
