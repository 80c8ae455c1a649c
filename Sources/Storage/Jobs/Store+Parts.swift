import Downloads
import Formats
import Foundation

/// Limits the parts of jobs that don't run: in age, number and total size.
extension Store {
    /// The promised parts, each with the end of its last promised range.
    public func parts() async throws(StoreError) -> [PartID: Int64] {
        try await read { db in try Self.parts(in: db) }
    }

    /// The promised parts, and those that become files, of all services. Every other file in the folder of parts is
    /// left over from an earlier run. One snapshot has them all, because another service can move a part from the
    /// former to the latter, and back.
    public func neededParts() async throws(StoreError) -> [PartID: Int64] {
        try await read { [sealer] db in
            try Self.parts(in: db).merging(Self.partsInPromotion(in: db, sealer)) { $1 }
        }
    }

    /// The parts that become files, each with its size. They are complete and synced.
    private static func partsInPromotion(in db: SQLConnection, _ sealer: Sealer) throws -> [PartID: Int64] {
        let jobs = try db.rows("SELECT id FROM jobs WHERE state = 'running' AND promotion IS NOT NULL")
        return try jobs.reduce(into: [:]) { parts, row in
            let promotion = try JobRow.job(JobID(row["id"]), in: db, sealer)?.state.promotion
            if let promotion { parts[promotion.part] = promotion.file.size }
        }
    }

    /// - Parameter hasRanges: false for a database of a version without gaps in parts.
    static func parts(in db: SQLConnection, hasRanges: Bool = true) throws -> [PartID: Int64] {
        let rows = try db.rows("SELECT id, bytes_durable, \(hasRanges ? "ranges" : "NULL AS ranges") FROM parts")
        return try Dictionary(
            uniqueKeysWithValues: rows.map { row in
                (PartID(row["id"]), try ByteRanges(stored: row["ranges"], count: row["bytes_durable"]).end)
            })
    }

    /// Removes the parts that have expired, then the oldest parts until the rest fits into the limits.
    ///
    /// - Parameter limits: also called on the writer's thread, because the limits can change before the write begins.
    /// - Returns: the removed parts, and the time at which the next part expires.
    public func expireParts(
        _ limits: @escaping @Sendable () -> PartLimits
    ) async throws -> (dropped: [PartID], next: Date?) {
        guard try await exceeds(limits()) else { return ([], try await nextExpiry()) }
        let dropped = try await writer.write { try $0.expireParts() + $0.evictParts(limits()) }
        return (dropped, try await nextExpiry())
    }

    /// Whether a part has expired, or the parts do not fit into the limits.
    private func exceeds(_ limits: PartLimits) async throws -> Bool {
        let (now, confidence) = (time.now, time.confidence)
        return try await read { db in
            try db.value(
                """
                SELECT EXISTS (SELECT 1 FROM parts WHERE expires_at <= ? AND lifetime <= ?)
                    OR (SELECT part_bytes FROM service_counts) > ?
                    OR (SELECT parts FROM service_counts) > ?
                """,
                [
                    now.milliseconds, confidence.longestRemovableLifetime(at: now), limits.bytes ?? .max,
                    limits.count ?? .max,
                ], as: Bool.self) ?? false
        }
    }

    /// The time of the next expiry. Parts don't expire in the first hour after a start or a jump of the clock.
    private func nextExpiry() async throws -> Date? {
        let confidence = time.confidence
        return try await read { db in
            let short = try db.rows(Self.shortLived).map { row in
                let quietEnd = confidence.removalStart(forDataKeptFor: Double(row["lifetime"] as Int64) / 1000)
                return max(row.time("expires_at"), quietEnd)
            }
            let first = try db.row(Self.firstExpiry)?.optionalTime("expires_at")
            let quietEnd = confidence.removalStart(forDataKeptFor: .infinity)
            return (short + [first.map { max($0, quietEnd) }].compactMap { $0 }).min()
        }
    }

    private static let shortLived =
        "SELECT expires_at, lifetime FROM parts WHERE expires_at IS NOT NULL AND lifetime < 3600000"
    private static let firstExpiry = "SELECT min(expires_at) AS expires_at FROM parts WHERE expires_at IS NOT NULL"
}

extension ClockConfidence {
    /// Milliseconds. Data with a longer lifetime must not be removed now.
    func longestRemovableLifetime(at now: Date) -> Int64 {
        allowsRemoval(ofDataKeptFor: .infinity, at: now) ? .max : now.milliseconds - steadySince.milliseconds
    }
}
