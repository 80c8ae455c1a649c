import Base
import Downloads
import Foundation
import Glibc
import Synchronization

public struct StoreStatistics: Sendable, Equatable {
    public var jobs: [JobState.Kind: Int]
    public var sessions: Int
    public var webhooks: [Webhook.State.Kind: Int]
    public var pendingDeliveries: Int
    /// Settled deliveries that were not pruned.
    public var settledDeliveries: [Delivery.State.Kind: Int]
    public var lastEvent: EventID
    public var unacknowledgedFinishes: Int
}

/// What waits in the store, for metrics.
public struct StoreBacklog: Sendable, Equatable {
    /// When the oldest job was created that could start if a slot were free; nil if there is none.
    public var oldestQueued: Date?
    /// When the oldest event was appended that has not been delivered to a webhook; nil if there is none.
    public var oldestDelivery: Date?
    /// The parts of all jobs, and their durable bytes.
    public var parts: Int
    public var partBytes: Int64
}

/// The sizes of the database's files and of their file system, in bytes.
public struct StoreFiles: Sendable, Equatable {
    public var database: Int64
    public var log: Int64
    /// What fetchd may still use of the file system; nil if the system does not report it.
    public var free: Int64?
    public var total: Int64?
}

/// The work of the database since the store was opened.
public struct DatabaseActivity: Sendable, Equatable {
    /// SQL statements of all connections. Each run of a trigger counts as one more.
    public var statements: Int
    /// Group commits that changed data. Each one syncs the log.
    public var commits: Int

    package init(statements: Int, commits: Int) {
        self.statements = statements
        self.commits = commits
    }
}

/// The durations of what the store has done, since it was opened.
public struct StoreMeasurements: Sendable {
    /// Group commits that changed data: from the first statement to the end of the sync.
    public let commits = HistogramRecorder(.disk)
    /// Jobs, from their creation to their end.
    public let jobs = HistogramFamily<BatchSignal.Ending>(.downloads)
}

/// Counts the writes that the engine gave up because the service stopped before the disk accepted them. The program
/// reports them in its exit status.
public final class UnstoredChanges: Sendable {
    private let number = Atomic(0)

    public var count: Int { number.load(ordering: .relaxed) }

    public func note() { number.add(1, ordering: .relaxed) }
}

extension Store {
    public var activity: DatabaseActivity { engine.activity }

    /// Reads rows that are kept, so it takes the same time for any number of jobs and deliveries.
    public func statistics() async throws(StoreError) -> StoreStatistics {
        try await read { db in
            let (jobs, sessions) = try SessionCounts.total(in: db)
            let service = try ServiceCounts.read(in: db)
            let webhooks = try db.rows("SELECT state, count(*) AS n FROM webhooks GROUP BY state")
            return StoreStatistics(
                jobs: jobs.byState, sessions: sessions,
                webhooks: try Dictionary(
                    uniqueKeysWithValues: webhooks.map { try ($0.named("state", as: Webhook.State.Kind.self), $0["n"]) }
                ),
                pendingDeliveries: service[.pendingDeliveries], settledDeliveries: service.settledDeliveries,
                lastEvent: try Self.lastEvent(in: db), unacknowledgedFinishes: service[.unacknowledgedFinishes])
        }
    }

    /// Takes a few steps in an index for each session with queued jobs and for each webhook with pending deliveries, for
    /// any number of jobs and deliveries.
    public func backlog() async throws(StoreError) -> StoreBacklog {
        try await read { db in
            let counts = try ServiceCounts.read(in: db)
            return StoreBacklog(
                oldestQueued: try db.time(Self.oldestQueued), oldestDelivery: try db.time(Self.oldestUndelivered),
                parts: counts[.parts], partBytes: Int64(counts[.partBytes]))
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
        guard case .statistics(let count) = engine.upkeep else { return }
        let result = await readers.run { Result { try count() } }
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
