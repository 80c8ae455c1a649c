import CSQLite

/// The number of SQL statements that connections have run.
final class StatementCount: @unchecked Sendable {
    // SQLite's callback adds to it atomically, on the thread of each connection.
    private let count = UnsafeMutablePointer<Int64>.allocate(capacity: 1)

    init() { count.initialize(to: 0) }

    deinit { count.deallocate() }

    var value: Int { Int(sqlite_statement_count(count)) }

    /// Counts the statements of this connection from now on. The count must outlive the connection.
    func observe(_ connection: OpaquePointer) { sqlite_count_statements(connection, count) }
}
