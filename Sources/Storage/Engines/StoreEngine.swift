import Downloads

/// The database beneath a store: SQLite in the data folder, or PostgreSQL.
///
/// What is above it calls `SQLConnection` and knows of no engine. Reads come from any of the store's threads; all other calls
/// come from the writer's thread.
protocol StoreEngine: Sendable {
    /// Reads one snapshot of the committed data.
    func read<Value>(_ body: (SQLConnection) throws -> Value) throws -> Value

    /// Makes the changes of a group in one transaction, and returns when they are durable.
    ///
    /// - Parameter body: makes the changes, and may be called again, for a new transaction that begins from the committed
    ///   data. The engine has rolled the former one back.
    /// - Returns: whether the group has changed data.
    func commit(_ body: (SQLConnection, EventNumbers) throws -> Void) throws(CommitFailure) -> Bool

    /// Makes one change of the group, and undoes it if `body` returns false.
    func attempt(in db: SQLConnection, _ body: () -> Bool) throws -> Bool

    /// Whether the former group, which failed with an unknown outcome, has turned out to be stored. The body of the next group
    /// asks first.
    func takeUncertainStored() -> Bool

    /// Does after a commit what need not delay its callers.
    func maintain() throws

    /// Tries to write, after a fault.
    func probe() throws

    /// Whether `watch` is to be called every 2 seconds while the store is idle.
    var isWatched: Bool { get }

    /// Notices that the database was lost to another service.
    func watch() throws

    /// This service in a database that several services share; nil in a database of its own. Any thread may ask.
    var node: Node? { get }

    /// Whether this service may still act for its jobs: no other service can have taken them over. Always true in a database
    /// of its own. Any thread may ask.
    var holdsLease: Bool { get }

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
    var isWatched: Bool { false }
    func watch() throws {}
    func takeUncertainStored() -> Bool { false }
}
