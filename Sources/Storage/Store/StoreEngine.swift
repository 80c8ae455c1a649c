import Downloads
import Formats
import Foundation

/// The database beneath a store: SQLite in the data folder, or PostgreSQL.
///
/// What is above it calls `SQLConnection` and knows of no engine. Reads come from any of the store's threads; all other calls
/// come from the writer's thread.
package protocol StoreEngine: Sendable {
    /// Reads one snapshot of the committed data.
    func read<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value

    /// Makes the changes of a group in one transaction, and returns when they are durable.
    ///
    /// - Parameters:
    ///   - body: makes the changes, and may be called again, for a new transaction that begins from the committed
    ///     data. The engine has rolled the former one back.
    ///   - notice: what the other services that share the database receive with the commit.
    /// - Returns: the position of the commit in the order of all commits; nil if the group has changed no data. SQLite counts
    ///   only the commits of this process.
    func commit(_ body: (CommitGroup) throws -> Void, notice: () -> CommitNotice) throws(CommitFailure) -> Int64?

    /// Does after a commit what need not delay its callers.
    func maintain() throws

    /// What has to be done now and then.
    var upkeep: EngineUpkeep { get }

    /// Tries to write, after a fault.
    func probe() throws

    /// The services that share the database; nil in a database of one service. Any thread may ask.
    var cluster: (any Cluster)? { get }

    /// Since the store was opened. Any thread may ask.
    var activity: DatabaseActivity { get }

    /// What a check has found wrong in the database; nil when it has found nothing so far.
    var damage: String? { get }

    /// Closes all connections. Acknowledged changes are durable already.
    func close() throws(StoreError)
}

/// A group commit that an engine has begun.
package struct CommitGroup {
    package let db: SQLConnection
    let numbers: EventNumbers
    /// The position of the former group, which failed with an unknown outcome, if it has turned out to be stored.
    let storedFormer: Int64?
    /// nil in a database of one service.
    let others: ChangesOfOthers?
    /// Makes one change of the group, and undoes it if the function returns false.
    let attempt: Attempt

    /// - Parameter isOnly: whether the group changes nothing else, so that undoing the change may undo the group.
    package typealias Attempt = (_ isOnly: Bool, _ change: () -> Bool) throws -> Bool

    package init(
        _ db: SQLConnection, _ numbers: EventNumbers, storedFormer: Int64? = nil, others: ChangesOfOthers? = nil,
        attempt: @escaping Attempt
    ) {
        self.db = db
        self.numbers = numbers
        self.storedFormer = storedFormer
        self.others = others
        self.attempt = attempt
    }
}

/// A group is not stored, or it is not certain that it is not.
package struct CommitFailure: Error {
    /// For the callers of the group.
    package let error: StoreError
    /// Whether the engine has made sure that nothing is stored, and that it can write again.
    package let isOver: Bool
    /// Whether the group may be stored nevertheless. The engine finds out when it begins the next group.
    package let isUncertain: Bool

    package init(error: StoreError, isOver: Bool, isUncertain: Bool = false) {
        self.error = error
        self.isOver = isOver
        self.isUncertain = isUncertain
    }
}

/// The database has refused a statement of a write, after the write itself had succeeded. The other writes of its group are
/// made without it.
package struct RefusedWrite: Error {
    let error: StoreError

    package init(error: StoreError) { self.error = error }
}

package enum EngineUpkeep {
    /// The database is a file. The function rewrites it without its free space, on the writer's thread.
    case file(rewrite: () throws -> Void)
    /// The function counts the rows of tables that have grown, for the planner of the statements. It blocks its thread.
    case statistics(count: @Sendable () throws -> Void)
}

/// A database that is being opened. All calls block their thread.
package protocol StoreDatabase: AnyObject {
    /// Reads one snapshot of the committed data.
    func read<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value
    /// Makes one change while the store is opened. Later, the writer makes all changes.
    func change(_ body: (SQLConnection) throws -> Void) throws
}

/// A database that is ready for a store.
package struct OpenedDatabase {
    let engine: any StoreEngine
    let sealer: Sealer
    let history: History
    let start: JournalPosition

    /// - Parameters:
    ///   - history: what the database records about itself.
    ///   - start: the last commit and the last event when the store is opened.
    package init(engine: any StoreEngine, sealer: Sealer, history: History, start: JournalPosition) {
        self.engine = engine
        self.sealer = sealer
        self.history = history
        self.start = start
    }

    func read<Value>(_ body: (SQLConnection) throws -> Value) throws(StoreError) -> Value {
        do { return try engine.read(body) } catch { throw StoreError(error) }
    }

    /// New identifiers are larger than every existing one, also if the clock was set back.
    func sequence() throws(StoreError) -> ULIDSequence {
        let last = try read { db in try db.rows(Self.highestIdentifiers).map { try $0[0] as String? } }
        let used = last.compactMap { $0?.split(separator: "_").last.flatMap { ULID($0) } }
        return ULIDSequence(after: (used + [history.lastID].compactMap(\.self)).max())
    }

    package static let highestIdentifiers =
        "SELECT max(id) FROM jobs UNION SELECT max(id) FROM deliveries UNION SELECT max(id) FROM parts"
}

/// The row of the table `history`: what the database records about itself.
package struct History: Sendable, Equatable {
    package var identity: String
    package var commits: Int64
    /// When the database was created or restored; nil when a version before 0.2.0 created it.
    var beganAt: Date?
    /// The largest identifier that was assigned before a restore.
    package var lastID: ULID?

    /// - Returns: nil when the database has no tables.
    package static func read(_ db: SQLConnection) throws -> History? {
        guard try db.hasTable("history"), let row = try db.row("SELECT * FROM history") else { return nil }
        return try History(
            identity: row["identity"], commits: row["commits"], beganAt: row.optionalTime("began_at"),
            lastID: (row["last_id"] as String?).flatMap { ULID($0) })
    }
}

/// An error of a database library, which its engine translates.
package protocol StoreErrorConvertible: Error {
    var storeError: StoreError { get }
}

extension StoreError {
    /// The error of a call below the seam.
    package init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as any StoreErrorConvertible: self = error.storeError
        default: self = .failed(why: String(describing: error))
        }
    }
}
