import Foundation
import Locks
import PostgresClient

/// The connection that writes. Only the writer's thread uses it, except `statements`.
final class PostgresWriter: @unchecked Sendable {
    let dialect = PostgresDialect()
    /// The group under way.
    var group: PostgresGroup?
    /// `journal.commits` after the last commit of this store; nil before it is known.
    var position: Int64?
    /// The last group, if its callers got an error because the outcome was unknown.
    var uncertain: UncertainCommit?
    /// Whether that group has turned out to be stored.
    var isUncertainStored = false
    private var current: PostgresConnection?
    /// The process of the server that served the former connection.
    private var former: Int32?
    /// Another service has had the database. What this one has in memory does not fit the database any more.
    private var isLost = false
    private var isClosed = false
    private let groups = Locked(0)
    private let sharesTables: Bool

    /// - Parameter sharesTables: see `PostgresEngine`.
    init(sharesTables: Bool) { self.sharesTables = sharesTables }

    /// How often something was asked of the server: each time with one statement or more.
    var statements: Int { groups.withLock { $0 } }

    /// The open connection, or a new one.
    ///
    /// - Throws: `StoreError.databaseInUse`, `databaseLost`.
    func connection(to target: PostgresTarget) throws -> PostgresConnection {
        groups.withLock { $0 += 1 }
        if isClosed { throw PostgresError.closed }
        if isLost { throw StoreError.databaseLost(name: Self.name(of: target)) }
        if let current, current.isOpen { return current }
        let connection = try PostgresConnection(to: target, options: Self.options)
        if !sharesTables { try take(connection, target) }
        former = connection.serverProcess
        current = connection
        return connection
    }

    /// The next call connects again, for example to another server of the address.
    func disconnect() { current?.close() }

    func close() {
        disconnect()
        isClosed = true
    }

    /// Checks that only this service has changed the database.
    ///
    /// - Parameters:
    ///   - found: `journal.commits`.
    ///   - isExplained: whether a commit of this service with an unknown outcome explains a difference.
    /// - Throws: `StoreError.databaseLost`, from now on in every call.
    func verify(_ found: Int64, isExplained: Bool = false, _ target: PostgresTarget) throws {
        guard !sharesTables, let position, position != found, !isExplained else { return }
        isLost = true
        throw StoreError.databaseLost(name: Self.name(of: target))
    }

    private static func name(of target: PostgresTarget) -> String { "postgres://\(target)" }

    private static var options: PostgresConnection.Options {
        var options = PostgresConnection.Options()
        options.applicationName = "fetchd writer"
        // The server frees the locks of a process that was stopped in a transaction.
        options.settings["idle_in_transaction_session_timeout"] = "20000"
        // The server notices within 15 s that the machine of this connection is gone, and frees the database.
        options.settings["tcp_user_timeout"] = "14000"
        options.settings["tcp_keepalives_idle"] = "5"
        options.settings["tcp_keepalives_interval"] = "3"
        options.settings["tcp_keepalives_count"] = "3"
        return options
    }
}

/// One service has the tables, as long as its connection lives.
extension PostgresWriter {
    /// Waits for the former connection of this service, if the server has not noticed its end yet.
    private func take(_ connection: PostgresConnection, _ target: PostgresTarget) throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while try connection.execute(Self.lock).first?.value(0, as: Bool.self) != true {
            guard let former, try holder(connection) == former, .now < deadline else {
                connection.close()
                throw StoreError.databaseInUse(name: Self.name(of: target))
            }
            let end = PostgresStatement(
                "SELECT pg_terminate_backend(CAST($1 AS integer))", [.int8(Int64(former))], isPrepared: false)
            try connection.execute(end)
            Thread.sleep(forTimeInterval: 0.1)
        }
    }

    /// The process of the server that serves the service with the tables; nil if there is none.
    private func holder(_ connection: PostgresConnection) throws -> Int32? {
        try connection.execute(Self.findHolder).first.map { Int32(clamping: try $0.value(0, as: Int64.self)) }
    }

    private static let lock = PostgresStatement(
        "SELECT pg_try_advisory_lock(hashtext('fetchd'), hashtext(current_schema()))", isPrepared: false)

    /// The view has the two halves of the key as unsigned numbers.
    private static let findHolder = PostgresStatement(
        """
        SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND CAST(classid AS bigint) = CAST(hashtext('fetchd') AS bigint) & 4294967295
            AND CAST(objid AS bigint) = CAST(hashtext(current_schema()) AS bigint) & 4294967295
        """, isPrepared: false)
}
