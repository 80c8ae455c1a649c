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
    /// The certificate of the server or of the client is missing or not valid for this connection, or the server has no TLS although
    /// it is required.
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

    /// By the first two letters.
    private static let classes: [String: PostgresCondition] = [
        "08": .unreachable, "28": .authenticationFailed,
    ]
}
