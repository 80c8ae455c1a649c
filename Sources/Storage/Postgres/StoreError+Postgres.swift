import PostgresClient

extension StoreError {
    init(_ error: PostgresError) {
        switch error {
        case .targetInvalid(let why):
            self = .serverUnsuitable(why: "The address of the PostgreSQL server is invalid: \(why).")
        case .connectFailed(let report): self.init(refusal: report, "\(error)")
        case .statementFailed(let report, _): self.init(failure: report, "\(error)")
        case .connectionLost, .timedOut, .interrupted, .closed, .rolledBack, .outcomeUnknown:
            self = .databaseAway(why: "\(error)")
        case .parameterInvalid, .columnUnreadable: self = .failed(why: "\(error)")
        }
    }

    /// The server has refused the connection, or did not answer.
    private init(refusal report: PostgresReport, _ text: String) {
        switch report.condition {
        case .authenticationFailed, .unknownDatabase, .permissionDenied, .encryptionRefused:
            self = .serverUnsuitable(why: text + ".")
        default: self = .databaseAway(why: text)
        }
    }

    /// The server has refused a statement.
    private init(failure report: PostgresReport, _ text: String) {
        switch report.condition {
        case .diskFull: self = .outOfSpace
        case .serializationFailure, .deadlockDetected, .lockNotAvailable, .cancelled, .adminShutdown, .crashShutdown,
            .cannotConnectNow, .idleTimeout, .readOnly, .outOfMemory, .tooManyConnections, .inputOutputError,
            .unreachable, .transactionFailed:
            self = .databaseAway(why: text)
        case .uniqueViolation, .foreignKeyViolation, .checkViolation, .notNullViolation, .authenticationFailed,
            .unknownDatabase, .unknownObject, .permissionDenied, .invalidText, .statementUnknown, .notSupported,
            .encryptionRefused, .other:
            self = .failed(why: text)
        }
    }
}
