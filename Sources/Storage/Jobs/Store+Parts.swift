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
    public func expireParts(over limit: Int64?) async throws -> (dropped: [PartID], next: Date?) {
        let (now, confidence) = (time.now, time.confidence)
        let isNeeded = try read { db in
            try Bool.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM parts WHERE expires_at <= ? AND lifetime <= ?)
                            OR (SELECT coalesce(sum(bytes_durable), 0) FROM parts) > ?
                        """),
                arguments: [now.milliseconds, confidence.longestRemovableLifetime(at: now), limit ?? .max]) ?? false
        }
        let dropped =
            isNeeded
            ? try await writer.write { try $0.expireParts() + $0.evictParts(over: limit ?? .max) } : []
        return (dropped, try nextExpiry())
    }

    /// In the hour after a start or a jump of the clock, parts stay although their time is over.
    private func nextExpiry() throws -> Date? {
        let confidence = time.confidence
        return try read { db in
            let short = try Row.fetchAll(db.cachedStatement(sql: Self.shortLived)).map { row in
                let quietEnd = confidence.removalStart(forDataKeptFor: Double(row["lifetime"] as Int64) / 1000)
                return max(row.time("expires_at"), quietEnd)
            }
            let first = try Row.fetchOne(db.cachedStatement(sql: Self.firstExpiry))?.optionalTime("expires_at")
            let quietEnd = confidence.removalStart(forDataKeptFor: .infinity)
            return (short + [first.map { max($0, quietEnd) }].compactMap { $0 }).min()
        }
    }

    private static let shortLived =
        "SELECT expires_at, lifetime FROM parts WHERE expires_at IS NOT NULL AND lifetime < 3600000"
    private static let firstExpiry = "SELECT min(expires_at) AS expires_at FROM parts WHERE expires_at IS NOT NULL"
}

extension ClockConfidence {
    /// Milliseconds: what is kept for longer is not forgotten now.
    func longestRemovableLifetime(at now: Date) -> Int64 {
        allowsRemoval(ofDataKeptFor: .infinity, at: now) ? .max : now.milliseconds - steadySince.milliseconds
    }
}
