import PostgresClient

/// A transaction or a snapshot on a connection to PostgreSQL.
///
/// Statements that return nothing are queued. They are sent with the next statement that returns something, or with the
/// commit, in one round trip.
final class PostgresSession {
    /// An error of a statement, which has ended the transaction.
    struct Failure {
        var error: PostgresError
        /// `owner` when the statement was given; nil if the error is not of one statement.
        var owner: Int?

        /// Whether the server accepts no changes.
        var isReadOnly: Bool {
            if case .statementFailed(let report, _) = error { report.condition == .readOnly } else { false }
        }
    }

    private let dialect: PostgresDialect
    private var transaction: PostgresTransaction
    private var queue: [(statement: PostgresStatement, owner: Int?)] = []
    /// The number of the write to which the next statements belong.
    var owner: Int?
    /// The jobs that other nodes have changed since the last commit of this store; nil: they have changed nothing.
    var changedByOthers: CommitNotice.Jobs?
    /// The number of the last stored jump of the clock.
    var lastJump: Int64 = 0
    /// `journal.settings`, which counts the changes of settings by clients.
    var settingsVersion: Int64?
    /// How often rows may have been changed.
    private(set) var changes = 0
    private(set) var failure: Failure?

    /// Nothing else uses the connection until `commit` or `rollBack`.
    init(_ connection: PostgresConnection, _ dialect: PostgresDialect, _ mode: PostgresTransaction.Mode) {
        self.dialect = dialect
        transaction = connection.begin(mode)
    }

    /// Changes rows, with the next statement that returns something.
    func run(_ sql: String, _ arguments: SQLArguments) throws(PostgresError) {
        add(dialect.translation(of: sql), arguments)
        changes += 1
        if queue.count >= Self.longestQueue { try sendQueue() }
    }

    func changedRows(_ sql: String, _ arguments: SQLArguments) throws(PostgresError) -> Int {
        try result(sql, arguments).affectedRows
    }

    func rows(_ sql: String, _ arguments: SQLArguments) throws(PostgresError) -> [PostgresResultRow] {
        PostgresResultRow.rows(of: try result(sql, arguments))
    }

    /// The rows of several queries in one round trip.
    func together(_ queries: [(sql: String, arguments: SQLArguments)]) throws(PostgresError) -> [[PostgresResultRow]] {
        for query in queries { add(dialect.translation(of: query.sql), query.arguments) }
        return try sendQueue().suffix(queries.count).map(PostgresResultRow.rows)
    }

    /// Sends what is queued, and commits. Nothing can follow.
    func commit() throws(PostgresError) {
        let sent = take()
        try noting(sent.map(\.owner)) { session throws(PostgresError) in
            _ = try session.transaction.commit(with: sent.map(\.statement))
        }
    }

    /// Forgets what is queued, and ends the transaction.
    func rollBack() {
        queue = []
        transaction.rollBack()
    }

    /// So that a large write does not need the memory of all its statements.
    private static let longestQueue = 500

    private func add(_ translation: PostgresDialect.Translation, _ arguments: SQLArguments) {
        queue.append((PostgresStatement(translation.sql, arguments.postgres(translation.parameters)), owner))
    }

    private func result(_ sql: String, _ arguments: SQLArguments) throws(PostgresError) -> PostgresResult {
        let translation = dialect.translation(of: sql)
        add(translation, arguments)
        guard let last = try sendQueue().last else { throw .rolledBack }
        if !translation.isQuery, last.affectedRows > 0 { changes += 1 }
        return last
    }

    @discardableResult
    private func sendQueue() throws(PostgresError) -> [PostgresResult] {
        let sent = take()
        return try noting(sent.map(\.owner)) { session throws(PostgresError) in
            try session.transaction.execute(sent.map(\.statement))
        }
    }

    private func take() -> [(statement: PostgresStatement, owner: Int?)] {
        defer { queue = [] }
        return queue
    }

    /// The server refuses all statements after one that has failed.
    private func noting<Value>(
        _ owners: [Int?], _ body: (PostgresSession) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        if let failure { throw failure.error }
        do throws(PostgresError) {
            return try body(self)
        } catch {
            var owner: Int?
            if case .statementFailed(_, let index) = error, owners.indices.contains(index) { owner = owners[index] }
            failure = Failure(error: error, owner: owner)
            throw error
        }
    }
}

/// A row of a result, whose columns are found by name as well.
struct PostgresResultRow {
    /// The result, and the numbers of its columns as far as they were looked for.
    final class Columns {
        let result: PostgresResult
        private var numbers: [String: Int?] = [:]

        init(_ result: PostgresResult) { self.result = result }

        func number(of name: String) -> Int? {
            if let known = numbers[name] { return known }
            let number = result.column(named: name)
            numbers[name] = .some(number)
            return number
        }
    }

    private let columns: Columns
    private let row: PostgresRow

    static func rows(of result: PostgresResult) -> [PostgresResultRow] {
        let columns = Columns(result)
        return result.map { PostgresResultRow(columns: columns, row: $0) }
    }

    func value<Value: SQLValue>(_ column: Int) throws(PostgresError) -> Value { try row.value(column) }

    func optional<Value: SQLValue>(_ column: Int) throws(PostgresError) -> Value? { try row.optional(column) }

    func value<Value: SQLValue>(_ name: String) throws -> Value {
        guard let number = columns.number(of: name) else {
            throw StoreError.failed(why: "the result has no column \(name)")
        }
        return try value(number)
    }

    /// - Returns: nil also if there is no such column.
    func optional<Value: SQLValue>(_ name: String) throws(PostgresError) -> Value? {
        guard let number = columns.number(of: name) else { return nil }
        return try optional(number)
    }
}

extension PostgresResultRow: CustomStringConvertible {
    /// Bytes are shown by their number.
    var description: String {
        let values = columns.result.columnNames.enumerated().map { "\($1):\(text($0))" }
        return "[\(values.joined(separator: " "))]"
    }

    private func text(_ column: Int) -> String {
        if let number = try? row.optional(column, as: Int64.self) { return "\(number)" }
        if let text = try? row.optional(column, as: String.self) { return "\"\(text)\"" }
        if let number = try? row.optional(column, as: Double.self) { return "\(number)" }
        if let flag = try? row.optional(column, as: Bool.self) { return "\(flag)" }
        if let bytes = try? row.optional(column, as: [UInt8].self) { return "\(bytes.count) bytes" }
        return "NULL"
    }
}
