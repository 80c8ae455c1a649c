import Base
import Foundation
import PostgresClient
import Storage

/// The connection that writes. Only the writer's thread uses it, except `statements`.
final class PostgresWriter: @unchecked Sendable {
    let dialect = PostgresDialect()
    /// The group under way.
    var group: PostgresGroup?
    /// `journal.commits` after the last commit of this store; nil before it is known.
    var position: Int64?
    /// The last commit of this service as this process knows it; nil: it has not looked yet.
    var lastStored: String?
    /// The last group, if its callers got an error because the outcome was unknown.
    var uncertain: UncertainCommit?
    /// The position of that group, if it has turned out to be stored.
    var storedUncertain: Int64?
    /// How many groups ago other services have written.
    private var groupsSinceOthers = PostgresWriter.groupsOfATurn
    private let reach: ServerReach
    private var current: (connection: PostgresConnection, interrupt: PostgresInterrupt)?
    private var isClosed = false
    private let groups = Locked(0)

    init(_ reach: ServerReach) { self.reach = reach }

    /// How often something was asked of the server: each time with one statement or more.
    var statements: Int { groups.withLock { $0 } }

    /// The open connection, or a new one.
    ///
    /// - Throws: `StoreError.databaseInUse`.
    func connection(to target: PostgresTarget) throws -> PostgresConnection {
        groups.withLock { $0 += 1 }
        if isClosed { throw PostgresError.closed }
        let interrupt = try reach.interruptOfConnection()
        if let current, current.connection.isOpen, current.interrupt === interrupt { return current.connection }
        let connection = try PostgresConnection(to: target, options: Self.options, interrupt: interrupt)
        try share(connection, target)
        current = (connection, interrupt)
        return connection
    }

    private static let groupsOfATurn = 16

    /// Whether other services have written not long ago.
    var takesTurns: Bool { groupsSinceOthers < Self.groupsOfATurn }

    func noteTurn(afterOthers: Bool) {
        groupsSinceOthers = afterOthers ? 0 : min(groupsSinceOthers + 1, Self.groupsOfATurn)
    }

    /// Whether the server lacks the last commit of this process.
    ///
    /// - Parameter previous: the last commit of this service that the server has.
    func lacks(_ previous: String) -> Bool {
        guard let lastStored, previous != lastStored else { return false }
        return previous != uncertain?.id
    }

    /// The next call connects again, for example to another server of the address.
    func disconnect() { current?.connection.close() }

    func close() {
        disconnect()
        isClosed = true
    }

    /// Version 0.2.0 has the tables for itself: it holds the lock that the services share.
    private func share(_ connection: PostgresConnection, _ target: PostgresTarget) throws {
        guard try connection.execute(Self.lock).first?.value(0, as: Bool.self) == true else {
            connection.close()
            throw StoreError.databaseInUse(name: "postgres://\(target)")
        }
    }

    private static let lock = PostgresStatement(
        "SELECT pg_try_advisory_lock_shared(hashtext('fetchd'), hashtext(current_schema()))", isPrepared: false)

    private static var options: PostgresConnection.Options {
        var options = PostgresConnection.Options()
        options.applicationName = "fetchd writer"
        // The server frees the locks of a process that was stopped in a transaction.
        options.settings["idle_in_transaction_session_timeout"] = "5000"
        // The server frees the locks of a machine that is gone.
        options.endsWithoutItsClient()
        options.plansForIndexes()
        return options
    }
}

extension PostgresConnection.Options {
    /// Each frequent statement walks one index from its first row on. The server keeps its plan, and the plan that is best for an
    /// empty table reads all rows when the table has grown. Without these alternatives the plan is the same for
    /// every size. What needs a whole table still gets it, at a nominal cost for which the server would compile the statement.
    mutating func plansForIndexes() {
        for setting in ["enable_seqscan", "enable_bitmapscan", "jit"] { settings[setting] = "off" }
    }

    /// The server notices within 8 seconds that the machine of the connection is gone, or that its process reads
    /// nothing of what is sent to it. Over a Unix socket, this has no effect.
    mutating func endsWithoutItsClient() {
        settings["tcp_user_timeout"] = "8000"
        settings["tcp_keepalives_idle"] = "3"
        settings["tcp_keepalives_interval"] = "2"
        settings["tcp_keepalives_count"] = "2"
    }
}
