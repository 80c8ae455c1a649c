import Downloads
import Foundation
import GRDB
import Locks
import Logging

/// What fetchd remembers: sessions, jobs and their parts, batches, events, webhooks and deliveries, in one SQLite file.
///
/// The layers above ask for jobs, events and deliveries; SQL stays below. Every change goes through the one `Writer`;
/// reads use their own read-only connections and see only what is committed.
public final class Store: Sendable {
    public struct Options: Sendable {
        /// Read-only connections, and so reads at once.
        public var readers = 4
        /// Jobs that are kept in memory because somebody asked for them, at most.
        public var knownJobs = 20_000
        /// Seconds between two attempts of a delivery, at most. By default a day and a tenth: the longest delay of the
        /// standard schedule, jitter included.
        public var longestDeliveryDelay: TimeInterval = 95_040

        public init() {}
    }

    /// Rings when jobs may be admitted.
    public let jobsDue: Alarm
    /// Rings when a batch has become due, or its due time has changed.
    public let batchesDue: Alarm
    /// Rings when there are deliveries to be sent.
    public let deliveriesDue: Alarm
    /// Rings when a deleted session may be settled.
    public let sessionsDue: Alarm
    /// Rings when a job has a limit that comes soon.
    public let deadlinesDue: Alarm
    /// Rings when a part has begun to age.
    public let partsDue: Alarm

    /// What the service gave up when it stopped.
    public let unstored = UnstoredChanges()

    let writer: Writer
    let pool: DatabasePool
    let known: KnownJobs
    private let followers: Locked<[@Sendable (Commit) -> Void]>
    /// The time that the whole service goes by.
    public let time: ServiceClock
    private let folder: DataFolder

    /// Opens the store in `path`, making the folder and the tables where they are missing.
    ///
    /// - Throws: when the folder belongs to a running service or cannot be written, and when the database is damaged or
    ///   from a newer version; it is never recreated.
    public init(at path: String, options: Options = Options(), time: any TimeSource = SystemTime()) throws(StoreError) {
        folder = try DataFolder(at: path)
        pool = try Self.openPool(at: folder.database, readers: options.readers)
        self.time = ServiceClock(following: time, after: try Self.clockPast(in: pool))
        let alarms: [Transaction.Due: Alarm] = Dictionary(
            uniqueKeysWithValues: Transaction.Due.allCases.map { ($0, Alarm()) })
        jobsDue = alarms[.jobs]!
        batchesDue = alarms[.batches]!
        deliveriesDue = alarms[.deliveries]!
        sessionsDue = alarms[.sessions]!
        deadlinesDue = alarms[.deadlines]!
        partsDue = alarms[.parts]!
        let (known, followers) = (KnownJobs(limit: options.knownJobs), Locked<[@Sendable (Commit) -> Void]>([]))
        (self.known, self.followers) = (known, followers)
        writer = Writer(
            pool: pool, time: self.time, longestDeliveryDelay: options.longestDeliveryDelay,
            ulids: try Self.sequence(after: pool), known: known,
            onCommit: { commit in for follower in followers.withLock({ $0 }) { follower(commit) } },
            onDue: { due in for kind in due { alarms[kind]?.ring() } })
    }

    /// Tells of every commit from now on, on the writer's thread and in commit order: `follower` must be quick.
    public func follow(_ follower: @escaping @Sendable (Commit) -> Void) { followers.withLock { $0.append(follower) } }

    /// Seconds after which custodians of moments look again in any case.
    public static let longestLook: TimeInterval = 60

    /// Waits for nothing: a change that was acknowledged is on disk already.
    public func close() {
        try? pool.close()
    }

    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) throws(StoreError) -> Value {
        do { return try pool.read(body) } catch { throw StoreError(error) }
    }

    /// A name for a part that is about to be begun.
    public func makePartID() -> PartID { .make(writer.nextULID()) }

    /// Stores a jump of the wall clock, where there was one, and follows it. Every change does so by itself; this is for
    /// times without changes.
    public func followClock() async throws {
        if time.changeToStore() != nil { try await writer.write { _ in } }
    }

    /// Whether the database answers, for `/readyz`.
    public func check() throws(StoreError) {
        _ = try read { db in try Int.fetchOne(db.cachedStatement(sql: "SELECT 1")) }
    }

    private static func openPool(at path: String, readers: Int) throws(StoreError) -> DatabasePool {
        do {
            var configuration = Configuration()
            configuration.maximumReaderCount = readers
            configuration.foreignKeysEnabled = true
            // Another process may look at the file with `sqlite3`.
            configuration.busyMode = .timeout(5)
            let pool = try DatabasePool(path: path, configuration: configuration)
            if try pool.read(Schema.migrator.hasBeenSuperseded) {
                throw StoreError.databaseFromNewerVersion(path: path)
            }
            try Schema.migrator.migrate(pool)
            // GRDB sets NORMAL for pools, which can lose acknowledged commits when the power fails.
            // Checkpoints at 16 MiB of log instead of 4: pages that change all the time are copied less often.
            try pool.writeWithoutTransaction { db in
                try db.execute(
                    sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4096; PRAGMA temp_store = MEMORY")
            }
            return pool
        } catch let error as StoreError {
            throw error
        } catch {
            throw .databaseUnreadable(path: path, why: "\(error)")
        }
    }

    private static func clockPast(in pool: DatabasePool) throws(StoreError) -> ClockPast {
        do { return try pool.read(ClockPast.init) } catch { throw StoreError(error) }
    }

    /// Identifiers go on above the largest one there is, even if the clock was set back.
    private static func sequence(after pool: DatabasePool) throws(StoreError) -> ULIDSequence {
        do {
            let last = try pool.read { db in
                try Optional<String>.fetchAll(
                    db,
                    sql: "SELECT max(id) FROM jobs UNION SELECT max(id) FROM deliveries UNION SELECT max(id) FROM parts"
                )
            }
            return ULIDSequence(after: last.compactMap { $0?.split(separator: "_").last.flatMap { ULID($0) } }.max())
        } catch {
            throw StoreError(error)
        }
    }
}
