import CPostgreSQL

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

/// An error as the server or libpq has reported it.
///
/// The server's DETAIL and HINT are left out: they quote values of rows, which can be secret.
public struct PostgresReport: Sendable, Equatable, CustomStringConvertible {
    /// The class of the error, which a caller can handle.
    public var condition: PostgresCondition
    /// The five letters of the server (PostgreSQL's documentation, appendix A); nil if the error is not from the server.
    public var sqlState: String?
    /// A sentence for people. It can be in the language of the server.
    public var message: String
    /// The violated constraint or unique index.
    public var constraint: String?
    /// The table of the constraint.
    public var table: String?

    public init(
        _ condition: PostgresCondition, sqlState: String? = nil, message: String, constraint: String? = nil,
        table: String? = nil
    ) {
        self.condition = condition
        self.sqlState = sqlState
        self.message = message
        self.constraint = constraint
        self.table = table
    }

    public var description: String { sqlState.map { "\(message) (\($0))" } ?? message }
}

extension PostgresReport {
    /// The error or notice in a result of libpq.
    init(of result: OpaquePointer, _ redaction: Redaction) {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        let state = field(cpostgresql_sql_state)
        let message = field(cpostgresql_message) ?? String(cString: PQresultErrorMessage(result))
        self.init(
            PostgresCondition(sqlState: state), sqlState: state, message: redaction.firstLine(of: message),
            constraint: field(cpostgresql_constraint), table: field(cpostgresql_table))
    }

    /// The state of a connection that has failed. The message can have several lines, of which the first one is the cause.
    init(lost connection: ConnectionHandle, _ redaction: Redaction) {
        if let farewell = connection.notices.farewell {
            self = farewell
            return
        }
        let message = redaction.firstLine(of: connection.message)
        self.init(.unreachable, message: message.isEmpty ? "the server closed the connection" : message)
    }
}

/// The classes of errors that callers treat differently.
public enum PostgresCondition: Sendable, Equatable, CaseIterable {
    /// Another transaction has changed what this one has read. The transaction can be repeated.
    case serializationFailure
    /// The server ended a deadlock by rolling this transaction back. The transaction can be repeated.
    case deadlockDetected
    /// A lock was not granted within `lock_timeout`, or at once with `NOWAIT`.
    case lockNotAvailable
    case uniqueViolation
    case foreignKeyViolation
    case checkViolation
    case notNullViolation
    /// The statement was cancelled, or took longer than `statement_timeout`.
    case cancelled
    /// The server is being shut down, or an administrator has ended the connection.
    case adminShutdown
    /// Another process of the server has crashed, so the server ends all connections and recovers.
    case crashShutdown
    /// The server starts, stops or recovers.
    case cannotConnectNow
    /// The connection was idle for longer than the server allows, inside or outside of a transaction.
    case idleTimeout
    /// The server is a standby, or the session is read-only.
    case readOnly
    case diskFull
    case outOfMemory
    case tooManyConnections
    /// The name, the password or the certificate was refused, or is missing.
    case authenticationFailed
    case unknownDatabase
    /// The certificate of the server or of the client is missing or not valid for this connection, or the server has no TLS
    /// although it is required.
    case encryptionRefused
    /// A table, column, type or function does not exist, or the role may not use it.
    case unknownObject
    /// The role lacks a privilege.
    case permissionDenied
    /// A text that is not valid UTF-8, or contains a NUL.
    case invalidText
    /// A prepared statement was removed. The next call prepares it again.
    case statementUnknown
    /// The server lacks a feature; or a prepared statement would return other columns than before, because the tables have
    /// changed. The next call prepares it again.
    case notSupported
    /// A statement was sent after another one of the transaction had failed.
    case transactionFailed
    /// The server cannot read or write a file.
    case inputOutputError
    /// The network failed, or the server ended the connection without a reason.
    case unreachable
    /// Any other error.
    case other

    /// Whether the same transaction can succeed at once if it is repeated from its beginning.
    public var allowsRepetition: Bool { self == .serializationFailure || self == .deadlockDetected }

    /// - Parameter sqlState: the five letters of an error; nil if the error is not from the server.
    init(sqlState: String?) {
        guard let sqlState else {
            self = .unreachable
            return
        }
        self = Self.states[sqlState] ?? Self.classes[String(sqlState.prefix(2))] ?? .other
    }

    /// - Parameter message: of libpq about a connection that it has refused itself. libpq has no codes for its reasons.
    init(refusal message: String) {
        // The names before can be those of files and hosts.
        let reason = message.firstRange(of: "failed: ").map { message[$0.upperBound...] } ?? message[...]
        let texts = ["certificate", "SSL was required", "verified SSL connection", "tlsv1 alert", "sslv3 alert"]
        self = texts.contains { reason.contains($0) } ? .encryptionRefused : .unreachable
    }

    private static let states: [String: PostgresCondition] = [
        "23502": .notNullViolation, "23503": .foreignKeyViolation, "23505": .uniqueViolation, "23514": .checkViolation,
        "22021": .invalidText, "25006": .readOnly, "25P02": .transactionFailed, "25P03": .idleTimeout,
        "26000": .statementUnknown, "0A000": .notSupported, "3D000": .unknownDatabase,
        "40001": .serializationFailure, "40P01": .deadlockDetected, "42501": .permissionDenied,
        "42P01": .unknownObject, "42703": .unknownObject, "42704": .unknownObject, "42883": .unknownObject,
        "3F000": .unknownObject, "53100": .diskFull, "53200": .outOfMemory, "53300": .tooManyConnections,
        "55P03": .lockNotAvailable, "57014": .cancelled, "57P01": .adminShutdown, "57P02": .crashShutdown,
        "57P03": .cannotConnectNow, "57P04": .adminShutdown, "57P05": .idleTimeout, "58030": .inputOutputError,
    ]

    /// The first two letters select the condition of other states.
    private static let classes: [String: PostgresCondition] = [
        "08": .unreachable, "28": .authenticationFailed,
    ]
}
