import CPostgreSQL

/// The reason why a call failed. Each case says whether the changes of the call, or of its transaction, are stored. No text
/// contains a password, nor the values of a row.
public enum PostgresError: Error, Sendable, Equatable {
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
    public var condition: PostgresCondition
    /// The five letters of the server (PostgreSQL's documentation, appendix A); nil if the error is not from the server.
    public var sqlState: String?
    /// A sentence for people. It can be in the language of the server.
    public var message: String

    public init(_ condition: PostgresCondition, sqlState: String? = nil, message: String) {
        self.condition = condition
        self.sqlState = sqlState
        self.message = message
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
            PostgresCondition(sqlState: state), sqlState: state, message: redaction.firstLine(of: message))
    }

    /// The state of a connection that has failed. The message can have several lines, of which the first one is the cause.
    init(lost connection: ConnectionHandle, _ redaction: Redaction) {
        if let farewell = connection.notices.farewell {
            self = farewell
            return
        }
        let message = redaction.firstLine(of: connection.message)
        self.init(.unavailable, message: message.isEmpty ? "the server closed the connection" : message)
    }
}

/// The classes of errors that callers treat differently.
public enum PostgresCondition: Sendable, Equatable, CaseIterable {
    /// Another transaction has changed what this one has read, or the server ended a deadlock by rolling this transaction back.
    /// The same transaction can succeed at once if it is repeated from its beginning.
    case conflict
    /// The values break a rule of the table, or a text is not valid UTF-8.
    case dataRefused
    /// The server ends the connection: it is being shut down or recovers, an administrator has ended the connection, or the
    /// connection was idle for longer than the server allows.
    case connectionEnded
    /// The server is a standby, or the session is read-only.
    case readOnly
    case diskFull
    /// The name, the password or the certificate was refused or is missing, the database is unknown, the role lacks a privilege,
    /// or the server has no TLS although it is required.
    case accessRefused
    /// A table, column, type or function does not exist.
    case unknownObject
    /// A prepared statement was removed. The next call prepares it again.
    case statementUnknown
    /// The server lacks a feature; or a prepared statement would return other columns than before, because the tables have
    /// changed. The next call prepares it again.
    case notSupported
    /// The server cannot be reached, starts or stops, lacks memory or connections, cannot read a file, or has not granted a lock
    /// or ended a statement in time.
    case unavailable
    case other

    /// - Parameter sqlState: the five letters of an error; nil if the error is not from the server.
    init(sqlState: String?) {
        self = sqlState.map { Self.states[$0] ?? Self.classes[String($0.prefix(2))] ?? .other } ?? .unavailable
    }

    /// - Parameter message: of libpq about a connection that it has refused itself. libpq has no codes for its reasons.
    init(refusal message: String) {
        // The names before can be those of files and hosts.
        let reason = message.firstRange(of: "failed: ").map { message[$0.upperBound...] } ?? message[...]
        let texts = ["certificate", "SSL was required", "verified SSL connection", "tlsv1 alert", "sslv3 alert"]
        self = texts.contains { reason.contains($0) } ? .accessRefused : .unavailable
    }

    private static let states: [String: PostgresCondition] = [
        "22021": .dataRefused, "23502": .dataRefused, "23503": .dataRefused, "23505": .dataRefused,
        "23514": .dataRefused, "25006": .readOnly, "25P02": .unavailable, "25P03": .connectionEnded,
        "26000": .statementUnknown, "0A000": .notSupported, "3D000": .accessRefused, "3F000": .unknownObject,
        "40001": .conflict, "40P01": .conflict, "42501": .accessRefused, "42P01": .unknownObject,
        "42703": .unknownObject, "42704": .unknownObject, "42883": .unknownObject, "53100": .diskFull,
        "53200": .unavailable, "53300": .unavailable, "55P03": .unavailable, "57014": .unavailable,
        "57P01": .connectionEnded, "57P02": .connectionEnded, "57P03": .unavailable, "57P04": .connectionEnded,
        "57P05": .connectionEnded, "58030": .unavailable,
    ]

    private static let classes: [String: PostgresCondition] = ["08": .unavailable, "28": .accessRefused]
}
