import Downloads
import Formats
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
        /// Bytes of database and log up to which a database that was not closed is read through before it is used; a larger
        /// one is read through while it is used.
        public var quickCheckLimit: Int64 = 64 << 20
        /// Takes the log lines about the database.
        public var log = Logger(label: "fetchd.store") { _ in SwiftLogNoOpLogHandler() }

        public init() {}
    }

    /// Rings when jobs may be admitted.
    public let jobsDue: AsyncAutoResetEvent
    /// Rings when a batch has become due, or its due time has changed.
    public let batchesDue: AsyncAutoResetEvent
    /// Rings when there are deliveries to be sent.
    public let deliveriesDue: AsyncAutoResetEvent
    /// Rings when a deleted session may be settled.
    public let sessionsDue: AsyncAutoResetEvent
    /// Rings when a job has a limit that comes soon.
    public let deadlinesDue: AsyncAutoResetEvent
    /// Rings when a part has begun to age.
    public let partsDue: AsyncAutoResetEvent

    /// What the service gave up when it stopped.
    public let unstored = UnstoredChanges()

    let writer: Writer
    let connections: Connections
    let known: KnownJobs
    private let followers: Locked<[@Sendable (Commit) -> Void]>
    /// The time that the whole service goes by.
    public let time: ServiceClock
    private let folder: DataFolder
    private let mark: MarkFile
    /// When the database was made or restored: files that are older belong to another one. nil: that is not known, as an
    /// earlier version made it.
    public let beganAt: Date?

    var pool: DatabasePool { connections.pool }

    /// Opens the store in `path`, making the folder and the tables where they are missing.
    ///
    /// - Throws: when the folder belongs to a running service or cannot be written, and when the database is damaged,
    ///   incomplete or from a newer version; it is never recreated. `outOfSpace` and `busy` pass.
    public init(at path: String, options: Options = Options(), time: any TimeSource = SystemTime()) throws(StoreError) {
        FileErrors.follow()
        folder = try DataFolder(at: path)
        let opening = try Opening(folder, options)
        (connections, mark, beganAt) = (opening.connections, opening.mark, opening.history.beganAt)
        self.time = ServiceClock(following: time, after: try Self.clockPast(in: opening.connections))
        let alarms: [Transaction.Due: AsyncAutoResetEvent] = Dictionary(
            uniqueKeysWithValues: Transaction.Due.allCases.map { ($0, AsyncAutoResetEvent()) })
        jobsDue = alarms[.jobs]!
        batchesDue = alarms[.batches]!
        deliveriesDue = alarms[.deliveries]!
        sessionsDue = alarms[.sessions]!
        deadlinesDue = alarms[.deadlines]!
        partsDue = alarms[.parts]!
        let (known, followers) = (KnownJobs(limit: options.knownJobs), Locked<[@Sendable (Commit) -> Void]>([]))
        (self.known, self.followers) = (known, followers)
        writer = Writer(
            connections: connections, commits: CommitCount(opening.mark), time: self.time,
            longestDeliveryDelay: options.longestDeliveryDelay, ulids: try Self.sequence(after: opening), known: known,
            log: options.log,
            onCommit: { commit in for follower in followers.withLock({ $0 }) { follower(commit) } },
            onDue: { due in for kind in due { alarms[kind]?.set() } })
    }

    /// Tells of every commit from now on, on the writer's thread and in commit order: `follower` must be quick.
    public func follow(_ follower: @escaping @Sendable (Commit) -> Void) { followers.withLock { $0.append(follower) } }

    /// Seconds after which custodians of moments look again in any case.
    public static let longestLook: TimeInterval = 60

    /// Copies everything into the one file of the database, and closes it. A change that was acknowledged is on disk
    /// already; one that comes after this is refused.
    ///
    /// - Throws: when the copy failed: the log is kept then, and belongs to the database.
    public func close() throws(StoreError) {
        defer { folder.release() }
        do {
            try writer.close()
            try mark.set(mark.mark.closed, in: folder)
        } catch {
            throw .notClosed(path: folder.database, why: "\(error)")
        }
    }

    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) throws(StoreError) -> Value {
        do { return try connections.read(body) } catch { throw StoreError(error) }
    }

    /// A name for a part that is about to be begun.
    public func makePartID() -> PartID { .make(writer.nextULID()) }

    /// Stores a jump of the wall clock, where there was one, and follows it. Every change does so by itself; this is for
    /// times without changes.
    public func followClock() async throws {
        if time.changeToStore() != nil { try await writer.write { _ in } }
    }

    /// Whether the database can be read and written, as far as is known, for `/readyz`.
    public func check() throws(StoreError) {
        if let fault = writer.fault { throw fault }
        if let damage = connections.damage { throw .databaseDamaged(path: folder.database, why: damage) }
        _ = try read { db in try Int.fetchOne(db.cachedStatement(sql: "SELECT 1")) }
    }

    private static func clockPast(in connections: Connections) throws(StoreError) -> ClockPast {
        do { return try connections.read(ClockPast.init) } catch { throw StoreError(error) }
    }

    /// Identifiers go on above the largest one there is, even if the clock was set back.
    private static func sequence(after opening: Opening) throws(StoreError) -> ULIDSequence {
        do {
            let last = try opening.connections.read { db in
                try Optional<String>.fetchAll(db, sql: GivenIdentifiers.identifiers)
            }
            let used = last.compactMap { $0?.split(separator: "_").last.flatMap { ULID($0) } }
            return ULIDSequence(after: (used + [opening.history.lastID].compactMap(\.self)).max())
        } catch {
            throw StoreError(error)
        }
    }
}
