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
    func connection(to target: PostgresTarget) throws(PostgresError) -> PostgresConnection {
        groups.withLock { $0 += 1 }
        if let current, current.isOpen { return current }
        var options = PostgresConnection.Options()
        options.applicationName = "fetchd writer"
        // A node that stops in a transaction keeps the others from writing.
        options.settings["idle_in_transaction_session_timeout"] = "3000"
        let connection = try PostgresConnection(to: target, options: options)
        current = connection
        return connection
    }

    func close() {
        current?.close()
        current = nil
    }
}
