/// A transaction under way. It is passed to the body of `PostgresConnection.transaction`, or made by `begin`.
///
/// Nothing is sent before its first statement, so `BEGIN` costs no round trip. `COMMIT` costs none either if it is sent with the
/// last statements. There are no savepoints: in a group of writes they cost more than everything else.
public struct PostgresTransaction: ~Copyable {
    public enum Mode: Sendable {
        /// Each statement sees what was committed before it began, and waits for rows that others have locked.
        case readCommitted
        /// All statements see one snapshot, and cannot change anything.
        case snapshot
    }

    private enum Stage {
        case notBegun, begun, ended
    }

    private let connection: PostgresConnection
    private let mode: Mode
    private var stage = Stage.notBegun

    init(_ connection: PostgresConnection, _ mode: Mode) {
        self.connection = connection
        self.mode = mode
    }

    /// Executes statements in one round trip.
    ///
    /// - Throws: after `statementFailed`, the transaction cannot be continued.
    @discardableResult
    public mutating func execute(_ statements: [PostgresStatement]) throws(PostgresError) -> [PostgresResult] {
        try perform(statements, commits: false)
    }

    @discardableResult
    public mutating func execute(_ statement: PostgresStatement) throws(PostgresError) -> PostgresResult {
        try perform([statement], commits: false)[0]
    }

    /// Executes the last statements, and commits with them in one round trip. Nothing can follow.
    ///
    /// - Throws: `rolledBack` if an earlier statement had failed; `outcomeUnknown` if it is uncertain whether the server has
    ///   committed.
    @discardableResult
    public mutating func commit(with last: [PostgresStatement] = []) throws(PostgresError) -> [PostgresResult] {
        if stage == .notBegun, last.isEmpty {
            stage = .ended
            return []
        }
        let results = try perform(last + [Self.commit], commits: mode != .snapshot)
        stage = .ended
        // The server answers COMMIT with ROLLBACK, not with an error, if the transaction has failed.
        guard results.last?.command == "COMMIT" else { throw .rolledBack }
        return Array(results.dropLast())
    }

    /// Does nothing after `commit`.
    public mutating func rollBack() {
        guard stage == .begun else { return }
        stage = .ended
        connection.rollBack()
    }

    private mutating func perform(
        _ statements: [PostgresStatement], commits: Bool
    ) throws(PostgresError) -> [PostgresResult] {
        precondition(stage != .ended, "the transaction has ended")
        guard stage == .notBegun else { return try connection.perform(statements, commits: commits) }
        do {
            let results = try connection.perform([mode.begin] + statements, commits: commits)
            stage = .begun
            return Array(results.dropFirst())
        } catch .statementFailed(let report, let index) {
            stage = .begun
            throw .statementFailed(report, index: max(0, index - 1))
        }
    }

    static let commit = PostgresStatement("COMMIT", isPrepared: false)
    static let rollback = PostgresStatement("ROLLBACK", isPrepared: false)
}

extension PostgresTransaction.Mode {
    var begin: PostgresStatement {
        let level = self == .snapshot ? "REPEATABLE READ READ ONLY" : "READ COMMITTED"
        return PostgresStatement("BEGIN ISOLATION LEVEL \(level)", isPrepared: false)
    }
}
