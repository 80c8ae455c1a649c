import Downloads
import Formats
import Foundation
import GRDB
import PostgresClient

/// The database beneath a store: SQLite in the data folder, or PostgreSQL.
///
/// What is above it calls `SQLConnection` and knows of no engine. Reads come from any of the store's threads; all other calls
/// come from the writer's thread.
protocol StoreEngine: Sendable {
    /// Reads one snapshot of the committed data.
    func read<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value

    /// Makes the changes of a group in one transaction, and returns when they are durable.
    ///
    /// - Parameters:
    ///   - body: makes the changes, and may be called again, for a new transaction that begins from the committed
    ///     data. The engine has rolled the former one back.
    ///   - notice: what other nodes of the database receive with the commit.
    /// - Returns: the position of the commit in the order of all commits; nil if the group has changed no data. SQLite counts
    ///   only the commits of this process.
    func commit(
        _ body: (SQLConnection, EventNumbers) throws -> Void, notice: () -> CommitNotice
    ) throws(CommitFailure) -> Int64?

    /// Makes one change of the group, and undoes it if `body` returns false.
    func attempt(in db: SQLConnection, _ body: () -> Bool) throws -> Bool

    /// The position of the former group, which failed with an unknown outcome, if it has turned out to be stored. The body of
    /// the next group asks first.
    func takeUncertainStored() -> Int64?

    /// The position of the last commit and the last event, when the store was opened.
    var start: (position: Int64, lastEvent: EventID) { get throws }

    /// Does after a commit what need not delay its callers.
    func maintain() throws

    /// Counts the rows of tables that have grown, for the planner of the statements. Any thread may call it; it blocks the thread.
    func analyze() throws

    /// Tries to write, after a fault.
    func probe() throws

    /// This service in a database that several services share; nil in a database of its own. Any thread may ask.
    var node: Node? { get }

    /// Whether this service may still act for its jobs: no other service can have taken them over. Always true in a database
    /// of its own. Any thread may ask.
    var holdsLease: Bool { get }

    /// Seconds until the lease of this service ends, unless it is renewed; 0 if it has ended; nil in a database of its own. Any
    /// thread may ask.
    var leaseSeconds: Double? { get }

    /// The clock that the services of the database share; nil in a database of its own.
    var clock: (any TimeSource)? { get }

    /// Whether this service does what only one node of a cluster does. Any thread may ask.
    var isLeader: Bool { get }

    /// The server's time as this service estimates it, in milliseconds since 1970 (UTC). nil unless this service could
    /// use the database for as long as a lease lasts, and the server's clock did not jump, so that a lease that has
    /// ended shows that its node has.
    var takeoverTime: Int64? { get }

    /// See `Store.firstNode`. Any thread may ask.
    var firstNode: Int64? { get }

    /// A commit has made this node, or an earlier one has made another node, the first node.
    func note(firstNode: Int64)

    /// The last commit has made this service the leader.
    func noteLead()

    /// Shows the other nodes that this service stops.
    func drain()

    /// Follows the commits of the other nodes from now on, and keeps the lease of this one.
    func follow(_ follower: NodeFollower)

    /// The commits that have changed data since the store was opened. Any thread may ask.
    var commits: Int { get }

    /// The statements that were executed since the store was opened. Any thread may ask.
    var statements: Int { get }

    /// What a check has found wrong in the database; nil when it has found nothing so far.
    var damage: String? { get }

    /// Closes all connections. Acknowledged changes are durable already.
    func close() throws(StoreError)
}

/// A group is not stored, or it is not certain that it is not.
struct CommitFailure: Error {
    /// For the callers of the group.
    let error: StoreError
    /// Whether the engine has made sure that nothing is stored, and that it can write again.
    let isOver: Bool
    /// Whether the group may be stored nevertheless. The engine finds out when it begins the next group.
    var isUncertain = false
}

extension StoreEngine {
    var node: Node? { nil }
    var holdsLease: Bool { true }
    var leaseSeconds: Double? { nil }
    var clock: (any TimeSource)? { nil }
    var isLeader: Bool { true }
    var takeoverTime: Int64? { nil }
    var firstNode: Int64? { nil }
    func note(firstNode: Int64) {}
    func noteLead() {}
    func drain() {}
    func follow(_ follower: NodeFollower) {}
    func takeUncertainStored() -> Int64? { nil }
    func analyze() {}
    var start: (position: Int64, lastEvent: EventID) { get throws { (0, try read(Store.lastEvent)) } }
}

/// A database that is being opened. All calls block their thread.
protocol StoreDatabase: AnyObject {
    /// Reads one snapshot of the committed data.
    func read<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value
    /// Makes one change while the store is opened. Later, the writer makes all changes.
    func change(_ body: (SQLConnection) throws -> Void) throws
}

extension Connections: StoreDatabase {}

/// A database that is ready for a store.
struct OpenedDatabase {
    let engine: any StoreEngine
    let sealer: Sealer
    /// What the database records about itself.
    let history: History
}

extension OpenedDatabase {
    func tokens() throws(StoreError) -> TokenTable { try Store.tokens(in: engine) }

    func order() throws(StoreError) -> CommitOrder {
        do {
            let start = try engine.start
            return CommitOrder(after: start.position, lastEvent: start.lastEvent)
        } catch {
            throw StoreError(error)
        }
    }

    func clock() throws(StoreError) -> StoredClock {
        do { return try engine.read(StoredClock.init) } catch { throw StoreError(error) }
    }

    /// New identifiers are larger than every existing one, also if the clock was set back.
    func sequence() throws(StoreError) -> ULIDSequence {
        do {
            let last = try engine.read { db in try db.rows(HighestIdentifiers.identifiers).map { try $0[0] as String? }
            }
            let used = last.compactMap { $0?.split(separator: "_").last.flatMap { ULID($0) } }
            return ULIDSequence(after: (used + [history.lastID].compactMap(\.self)).max())
        } catch {
            throw StoreError(error)
        }
    }
}

/// The row of the table `history`: what the database records about itself.
struct History: Sendable, Equatable {
    var identity: String
    var commits: Int64
    /// When the database was created or restored; nil when a version before 0.2.0 created it.
    var beganAt: Date?
    /// The largest identifier that was assigned before a restore.
    var lastID: ULID?

    /// - Returns: nil when the database has no tables.
    static func read(_ db: SQLConnection) throws -> History? {
        guard try db.hasTable("history"), let row = try db.row("SELECT * FROM history") else {
            return nil
        }
        return try History(
            identity: row["identity"], commits: row["commits"], beganAt: row.optionalTime("began_at"),
            lastID: (row["last_id"] as String?).flatMap { ULID($0) })
    }
}

extension StoreError {
    /// The error of a call below the seam.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(error)
        case let error as PostgresError: self.init(error)
        default: self = .failed(why: String(describing: error))
        }
    }
}
