import Locks
import PostgresClient

/// The connection that writes. Only the writer's thread uses it, except `statements`.
final class PostgresWriter: @unchecked Sendable {
    let dialect = PostgresDialect()
    /// The group under way.
    var group: PostgresGroup?
    /// `journal.commits` after the last commit of this store; nil before the first.
    var position: Int64?
    private var current: PostgresConnection?
    private let groups = Locked(0)

    /// How often something was asked of the server: each time with one statement or more.
    var statements: Int { groups.withLock { $0 } }

    /// The open connection, or a new one.
    ///
    /// - Throws: `StoreError.databaseInUse` if another service has taken the database meanwhile.
    func connection(to target: PostgresTarget) throws -> PostgresConnection {
        groups.withLock { $0 += 1 }
        if let current, current.isOpen { return current }
        var options = PostgresConnection.Options()
        options.applicationName = "fetchd writer"
        // A node that stops in a transaction keeps the others from writing.
        options.settings["idle_in_transaction_session_timeout"] = "3000"
        // The server notices within 15 s that the machine of this connection is gone, and frees the database.
        options.settings["tcp_keepalives_idle"] = "5"
        options.settings["tcp_keepalives_interval"] = "3"
        options.settings["tcp_keepalives_count"] = "3"
        let connection = try PostgresConnection(to: target, options: options)
        try take(connection, target)
        current = connection
        return connection
    }

    /// Takes the database for this service, as long as the connection lives.
    private func take(_ connection: PostgresConnection, _ target: PostgresTarget) throws {
        let lock = PostgresStatement("SELECT pg_try_advisory_lock($1)", [.int8(Self.lock)])
        guard try connection.execute(lock).first?.value(0, as: Bool.self) == true else {
            connection.close()
            throw StoreError.databaseInUse(name: "postgres://\(target)")
        }
    }

    /// The bytes of `fetchd`, as a number.
    private static let lock: Int64 = 0x6665_7463_6864

    func close() {
        current?.close()
        current = nil
    }
}
