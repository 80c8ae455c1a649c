import Downloads
import Foundation
import Glibc

extension Store {
    /// Takes a few steps in an index for each session with queued jobs and for each webhook with pending deliveries, for
    /// any number of jobs and deliveries.
    public func backlog() async throws(StoreError) -> StoreBacklog {
        try await read { db in
            let counts = try ServiceCounts.read(in: db)
            func time(_ sql: String) throws -> Date? {
                try db.value(sql, as: Int64.self).map(Date.init(milliseconds:))
            }
            return StoreBacklog(
                oldestQueued: try time(Self.oldestQueued), oldestDelivery: try time(Self.oldestUndelivered),
                parts: counts.parts, partBytes: counts.partBytes)
        }
    }

    /// Jobs that a `not_before` holds are left out. The identifiers increase with the time of creation.
    /// Moved jobs are few, so all of them are read.
    static let oldestQueued = """
        SELECT created_at FROM jobs WHERE id = (
            SELECT min(oldest) FROM (
                \(oldestQueued(in: .unmoved)) UNION ALL \(oldestQueued(in: .moved))
            ) AS firsts
        )
        """

    private static func oldestQueued(in lane: QueueLane) -> String {
        let (id, session) = (lane.ordered("id"), lane.ordered("session"))
        return """
            SELECT (SELECT id FROM jobs INDEXED BY \(lane.index) WHERE \(lane.condition)
                AND priority = ranks.column1 AND \(session) = counts.session ORDER BY \(id) LIMIT 1) AS oldest
            FROM session_counts AS counts CROSS JOIN (VALUES (0), (1), (2)) AS ranks WHERE counts.queued > 0
            """
    }

    static let oldestUndelivered = """
        WITH RECURSIVE busy (key) AS (
            SELECT min(webhook) FROM deliveries WHERE state = 'pending'
            UNION ALL
            SELECT (SELECT min(webhook) FROM deliveries WHERE state = 'pending' AND webhook > busy.key)
            FROM busy WHERE busy.key IS NOT NULL
        )
        SELECT time FROM events WHERE id = (
            SELECT min(oldest) FROM (
                SELECT (SELECT min(event) FROM deliveries WHERE webhook = busy.key AND state = 'pending') AS oldest
                FROM busy WHERE busy.key IS NOT NULL
            ) AS firsts
        )
        """

    /// Counts the rows of tables that have grown since they were counted last, so that the database chooses good plans. Only
    /// PostgreSQL needs it.
    public func analyzeGrownTables() async throws(StoreError) {
        let result = await readers.run { [engine] in Result { try engine.analyze() } }
        do { try result.get() } catch { throw StoreError(error) }
    }

    /// Asks the file system on a reader's thread, because a file system can hang.
    public func files() async -> StoreFiles {
        await readers.run { [folder] in
            var status = statvfs()
            let isKnown = statvfs(folder.path, &status) == 0
            let block = Int64(status.f_frsize)
            return StoreFiles(
                database: (try? folder.size(of: folder.database)) ?? 0, log: (try? folder.size(of: folder.log)) ?? 0,
                free: isKnown ? Int64(status.f_bavail) * block : nil,
                total: isKnown ? Int64(status.f_blocks) * block : nil)
        }
    }
}
