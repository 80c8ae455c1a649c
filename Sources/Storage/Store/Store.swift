import Base
import Downloads
import Formats
import Foundation
import Logging
import Sealing

/// The database of the service: sessions, jobs, parts, batches, events, webhooks and deliveries.
///
/// The layers above call functions for jobs, events and deliveries, and use no SQL. The one `Writer` makes every
/// change. Reads use read-only connections and see committed data only. docs/architecture.md, "The store's contract",
/// has the guarantees.
public final class Store: Sendable {
    public struct Options: Sendable {
        /// The number of read-only connections, and so of concurrent reads.
        public var readers = 4
        /// The largest number of jobs that the cache keeps.
        public var jobCacheLimit = 20_000
        /// The longest time between two attempts of a delivery, in seconds. The default is 1.1 days: the longest delay
        /// of the standard schedule with its jitter.
        public var longestDeliveryDelay: TimeInterval = 95_040
        /// If the database was not closed and has at most this many bytes with its log, the store checks it before use;
        /// a larger one is checked in the background.
        public var quickCheckLimit: Int64 = 64 << 20
        /// Before an upgrade of the schema, the store copies a database of at most this many bytes.
        public var largestUpgradeCopy: Int64 = 4 << 30
        /// Where the key comes from that seals secrets.
        public var key = KeySource.dataFolder
        /// Whether the store is opened without the key that has sealed its secrets: with a new key, and without the secrets.
        public var acceptsLostSecrets = false
        /// The database of a server; nil: SQLite in the data folder.
        public var server: ServerDatabase?
        /// What this service says about itself to the others that use the same PostgreSQL database.
        public var node = NodeDescription()
        /// Whether the time is that of the PostgreSQL server, which all nodes share. Tests have their own clocks.
        public var followsServerClock = false
        /// Whether a PostgreSQL server is accepted that may lose acknowledged changes. For tests.
        public var acceptsUnsafeServer = false
        /// Called once, with the reason, when this process is not the node any more: other nodes have taken over its work, or the
        /// server has lost changes. All changes fail from then on.
        public var onReplacement: @Sendable (StoreError) -> Void = { _ in }
        /// Receives the log lines about the database.
        public var log = Logger(label: "fetchd.store") { _ in SwiftLogNoOpLogHandler() }

        public init() {}
    }

    /// What the nodes of a database tell each other without commits.
    public let exchange = NodeExchange()
    /// Writes that the engine gave up when the service stopped.
    public let unstored = UnstoredChanges()

    package let writer: Writer
    let engine: any StoreEngine
    let readers: ReaderThreads
    /// Reads and writes the lists of imports.
    let listThread = ReaderThreads(count: 1)
    let jobCache: JobCache
    let queueSamples = QueueSamples()
    package let sealer: Sealer
    private let order: CommitOrder
    let settingsFollower = SettingsFollower()
    /// Requests that were refused since the last commit of refusals.
    public let refusals = RefusalLog()
    /// The tokens that requests are authenticated with.
    public let tokens: TokenTable
    /// The clock of the whole service.
    public let time: ServiceClock
    public let measurements = StoreMeasurements()
    private let events: [WorkKind: AsyncAutoResetEvent]
    package let folder: DataFolder
    let options: Options
    /// When the database was created or restored. Older files belong to another database. nil when an earlier version
    /// created the database.
    public let beganAt: Date?
    /// Of the database: a restore gives it another one.
    public let identity: String

    /// Opens the store in the folder `path`, which is created if it is missing.
    ///
    /// - Parameter openFile: opens the database in the folder, unless the options name that of a server.
    /// - Throws: `folderInUse`, `folderNotPrivate` and `folderUnusable`; and those of the opening of the database.
    package init(
        at path: String, options: Options, time: any TimeSource,
        openFile: (DataFolder, Options) throws(StoreError) -> OpenedDatabase
    ) throws(StoreError) {
        folder = try DataFolder(at: path)
        if try folder.makePrivate() {
            options.log.notice("Other users had permissions on the data folder \(path). fetchd has removed them.")
        }
        let database =
            if let server = options.server { try server.open(folder, options) } else { try openFile(folder, options) }
        self.options = options
        readers = ReaderThreads(count: options.readers)
        engine = database.engine
        sealer = database.sealer
        beganAt = database.history.beganAt
        identity = database.history.identity
        tokens = TokenTable(try database.read { try $0.rows("SELECT * FROM tokens").map(TokenRow.token) })
        let clocks = options.followsServerClock ? engine.cluster?.clock ?? time : time
        self.time = ServiceClock(following: clocks, after: try database.read(StoredClock.init))
        let events = Dictionary(uniqueKeysWithValues: WorkKind.allCases.map { ($0, AsyncAutoResetEvent()) })
        self.events = events
        jobCache = JobCache(limit: options.jobCacheLimit)
        order = CommitOrder(after: database.start)
        let onReplacement = Self.once(options.onReplacement)
        let wake = { @Sendable (due: Set<WorkKind>) in for kind in due { events[kind]?.set() } }
        writer = Writer(
            engine: engine, time: self.time, longestDeliveryDelay: options.longestDeliveryDelay,
            ulids: try database.sequence(), jobCache: jobCache, settings: settingsFollower,
            sealer: sealer, measurements: measurements, log: options.log, order: order,
            onDue: wake, onReplacement: onReplacement)
        engine.cluster?.follow(
            NodeFollower(
                order: order, jobCache: jobCache, tokens: tokens, exchange: exchange, wake: wake,
                lose: onReplacement))
    }

    /// A function that makes a call at its first use, and then nothing more.
    private static func once(_ call: @escaping @Sendable (StoreError) -> Void) -> @Sendable (StoreError) -> Void {
        let isMade = Locked(false)
        return { loss in
            let isFirst = isMade.withLock { isMade in
                defer { isMade = true }
                return !isMade
            }
            if isFirst { call(loss) }
        }
    }

    /// The event for the one worker of this kind of work. The store sets it after each commit that makes such work
    /// due.
    public func work(_ kind: WorkKind) -> AsyncAutoResetEvent { events[kind]! }

    /// Calls `observer` after each later commit, in commit order, also for the commits of other nodes. The observer must return
    /// quickly: it delays the writer.
    ///
    /// - Returns: the last event before those that the observer receives.
    @discardableResult
    public func addCommitObserver(_ observer: @escaping @Sendable (Commit) -> Void) -> EventID { order.add(observer) }

    /// The last event that the observers have received.
    var lastDelivered: EventID { order.lastEvent }

    /// Workers that wait for a time check again after this many seconds at the latest.
    public static let longestPollInterval: TimeInterval = 60

    /// Copies the log into the database file and closes it. Acknowledged changes are durable already. Later writes
    /// fail.
    ///
    /// - Throws: `notClosed` when the copy failed. The log stays and belongs to the database.
    public func close() async throws(StoreError) {
        defer { folder.release() }
        try await writer.close()
    }

    /// Reads one snapshot of the committed data, on one of the store's threads.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreError) -> Value {
        try await readers.run { [engine] in
            Result { try engine.read(body) }.mapError { StoreError($0) }
        }.get()
    }

    /// A new identifier for a part whose file is in the folder of the location.
    public func makePartID(in location: Name = .default) -> PartID { .make(writer.nextULID(), by: node, in: location) }

    /// Commits a jump of the wall clock if one has occurred, and follows it. Every write does this as well; this call
    /// is for times without writes.
    public func followClock() async throws {
        if time.changeToStore(followsJumps: isLeader) != nil { try await writer.write { _ in } }
    }

    /// Whether there is a jump to commit or to report, or the time of the last commit is long ago.
    public func clockIsDue() -> Bool { time.changeToStore(followsJumps: isLeader) != nil || time.hasUnreportedJumps }

    /// Checks for `/readyz` whether the database can be read and written.
    public func check() async throws(StoreError) {
        if let fault = writer.fault { throw fault }
        if let damage = engine.damage { throw .databaseDamaged(path: folder.database, why: damage) }
        _ = try await read { db in try db.value("SELECT 1", as: Int.self) }
    }
}

extension Store {
    /// Returns when the writer has finished all changes that were requested before, whether they succeeded or failed.
    /// It adds a change without content, which syncs nothing.
    public func waitForWriter() async { try? await writer.write { _ in } }
}

/// The database of a server, in which a store can be opened. Its module makes it.
public struct ServerDatabase: Sendable {
    let open: @Sendable (DataFolder, Store.Options) throws(StoreError) -> OpenedDatabase

    package init(open: @escaping @Sendable (DataFolder, Store.Options) throws(StoreError) -> OpenedDatabase) {
        self.open = open
    }
}
