import Downloads
import Formats
import Foundation
import GRDB

/// What has been had of jobs that do not run: kept for a while, and never more than the service has room for.
extension Store {
    /// The parts that are promised, and where the last byte of each ends: everything else in the folder of parts is left
    /// over.
    public func parts() throws(StoreError) -> [PartID: Int64] {
        try read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT id, bytes_durable, ranges FROM parts")
            return try Dictionary(uniqueKeysWithValues: rows.map { (PartID($0["id"]), try $0.ranges().end) })
        }
    }

    /// Forgets the parts whose time is over, then the oldest ones until the rest fits.
    ///
    /// - Parameter limit: bytes that all parts of jobs that do not run may have together; nil: any number.
    /// - Returns: the parts that are promised no longer, and when the next one expires.
    public func forgetParts(over limit: Int64?) async throws -> (dropped: [PartID], next: Date?) {
        let (now, standing) = (time.now, time.standing)
        let isNeeded = try read { db in
            try Bool.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM parts WHERE expires_at <= ? AND lifetime <= ?)
                            OR (SELECT coalesce(sum(bytes_durable), 0) FROM parts) > ?
                        """),
                arguments: [now.milliseconds, standing.longestForgettable(at: now), limit ?? .max]) ?? false
        }
        let dropped =
            isNeeded
            ? try await writer.write { try $0.expireParts() + $0.evictParts(over: limit ?? .max) } : []
        return (dropped, try nextExpiry())
    }

    /// In the hour after a start or a jump of the clock, parts stay although their time is over.
    private func nextExpiry() throws -> Date? {
        let standing = time.standing
        return try read { db in
            let short = try Row.fetchAll(db.cachedStatement(sql: Self.shortLived)).map { row in
                let quietEnd = standing.forgettingBegins(forWhatIsKeptFor: Double(row["lifetime"] as Int64) / 1000)
                return max(row.time("expires_at"), quietEnd)
            }
            let first = try Row.fetchOne(db.cachedStatement(sql: Self.firstExpiry))?.optionalTime("expires_at")
            let quietEnd = standing.forgettingBegins(forWhatIsKeptFor: .infinity)
            return (short + [first.map { max($0, quietEnd) }].compactMap { $0 }).min()
        }
    }

    private static let shortLived =
        "SELECT expires_at, lifetime FROM parts WHERE expires_at IS NOT NULL AND lifetime < 3600000"
    private static let firstExpiry = "SELECT min(expires_at) AS expires_at FROM parts WHERE expires_at IS NOT NULL"
}

extension ClockStanding {
    /// Milliseconds: what is kept for longer is not forgotten now.
    fileprivate func longestForgettable(at now: Date) -> Int64 {
        allowsForgetting(whatIsKeptFor: .infinity, at: now) ? .max : now.milliseconds - steadySince.milliseconds
    }
}

extension Transaction {
    fileprivate func expireParts() throws -> [PartID] {
        try rows(
            "SELECT id, job, bytes_durable FROM parts WHERE expires_at <= ? AND lifetime <= ?",
            [now.milliseconds, standing.longestForgettable(at: now)]
        ).map(forget)
    }

    /// Oldest first; parts that grow are not resume data yet.
    fileprivate func evictParts(over limit: Int64) throws -> [PartID] {
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
