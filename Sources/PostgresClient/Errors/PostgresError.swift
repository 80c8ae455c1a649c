/// The reason why a call failed. Each case says whether the changes of the call, or of its transaction, are stored. No text
/// contains a password, nor the values of a row.
public enum PostgresError: Error, Sendable, Equatable {
    /// The URL of the server, or a `PG...` variable, cannot be used.
    case targetInvalid(why: String)
    /// No server could be reached, or every server refused the connection.
    case connectFailed(PostgresReport)
    /// The server rejected a statement. Nothing of the call is stored, and the connection can be used. Inside a
    /// transaction, only the rollback remains. `index` is the position of the statement in its call.
    case statementFailed(PostgresReport, index: Int)
    /// The transaction was committed after a statement of it had failed, so the server rolled it back. Nothing is stored.
    case rolledBack
    /// The connection ended before the changes could be committed. Nothing is stored.
    case connectionLost(PostgresReport)
    /// The deadline passed before the changes could be committed. The connection is closed if something was sent. Nothing is
    /// stored.
    case timedOut
    /// `PostgresInterrupt.interrupt` was called before the changes could be committed. The connection is closed, except
    /// after a wait for notifications. Nothing is stored.
    case interrupted
    /// The connection ended, the deadline passed or the call was interrupted during the commit. The connection is closed. The
    /// changes may be stored, all of them or none, or be stored later. Only a read on another connection can show it.
    case outcomeUnknown(PostgresReport)
    /// An earlier error or `close` has closed the connection. Nothing is stored.
    case closed
    /// A value or statement cannot be sent: a text contains a NUL, a value is too large, or there are too many. Nothing was
    /// sent, and a transaction can continue.
    case parameterInvalid(why: String)
    /// A column has another type than the caller expects, or NULL. The statement itself has succeeded.
    case columnUnreadable(why: String)
}

extension PostgresError {
    /// What the server or libpq has reported, if it was asked.
    public var report: PostgresReport? {
        switch self {
        case .connectFailed(let report), .statementFailed(let report, _), .connectionLost(let report),
            .outcomeUnknown(let report):
            report
        case .targetInvalid, .rolledBack, .timedOut, .interrupted, .closed, .parameterInvalid, .columnUnreadable: nil
        }
    }
}

extension PostgresError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .targetInvalid(let why): "The address of the PostgreSQL server cannot be used: \(why)"
        case .connectFailed(let report): "No connection to PostgreSQL: \(report)"
        case .statementFailed(let report, let index): "PostgreSQL rejected statement \(index): \(report)"
        case .rolledBack: "PostgreSQL rolled the transaction back, because one of its statements had failed"
        case .connectionLost(let report): "The connection to PostgreSQL ended before the commit: \(report)"
        case .timedOut: "PostgreSQL did not answer in time; the changes are not stored"
        case .interrupted: "The call to PostgreSQL was interrupted; the changes are not stored"
        case .outcomeUnknown(let report): "It is unknown whether PostgreSQL has stored the changes: \(report)"
        case .closed: "The connection to PostgreSQL is closed"
        case .parameterInvalid(let why): "A value cannot be sent to PostgreSQL: \(why)"
        case .columnUnreadable(let why): "A column from PostgreSQL cannot be read: \(why)"
        }
    }
}
