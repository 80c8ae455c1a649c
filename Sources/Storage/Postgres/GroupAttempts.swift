import PostgresClient

/// A commit whose answer was lost.
struct UncertainCommit {
    var id: String
    /// `journal.commits` before it.
    var position: Int64
    var error: PostgresError

    /// Whether it is the last commit of this node before a group that has locked the journal. The server gives that lock only
    /// after the former transaction of this node has ended.
    func isStored(before next: PostgresGroup) -> Bool { next.previous == id }
}

/// What a group commit remembers from one attempt to the next.
struct GroupAttempts {
    /// The writes that are not made again, with the errors of the database; nil: the write was refused by itself.
    private(set) var excluded: [Int: StoreError?] = [:]
    /// The attempt whose commit has an unknown outcome.
    private(set) var uncertain: UncertainCommit?
    private var lostConnections = 0
    private var conflicts = 0

    /// Whether this can be the last commit of the node, besides the last one whose outcome is known.
    func canHaveStored(_ id: String) -> Bool { uncertain?.id == id }

    /// The position of the attempt with an unknown outcome, if it was stored. The next attempt has the lock of the journal, so
    /// it is certain now.
    func stored(before next: PostgresGroup) -> Int64? {
        guard let uncertain, uncertain.isStored(before: next) else { return nil }
        return uncertain.position + 1
    }

    /// - Throws: the error, if the group has failed.
    mutating func prepareRepetition(of group: PostgresGroup, after error: any Error) throws {
        if let undone = group.undone {
            excluded[undone] = .some(nil)
            return
        }
        guard let failure = group.session.failure else { throw error }
        switch failure.error {
        case .statementFailed(let report, _) where report.condition.maySucceedAgain && conflicts < Self.mostConflicts:
            conflicts += 1
        case .statementFailed(let report, _) where !report.condition.isOfOneWrite: throw failure.error
        case .statementFailed:
            // One faulty write does not fail the others.
            guard let owner = failure.owner, excluded[owner] == nil else { throw failure.error }
            excluded[owner] = .some(StoreError(failure.error))
        case .outcomeUnknown:
            uncertain = UncertainCommit(id: group.id, position: group.position, error: failure.error)
            try noteLoss(failure.error)
        case .connectionLost: try noteLoss(failure.error)
        case .targetInvalid, .connectFailed, .rolledBack, .timedOut, .interrupted, .closed, .parameterInvalid,
            .columnUnreadable:
            throw failure.error
        }
    }

    /// - Throws: the error that the group fails with, if there is no connection.
    mutating func prepareConnection(after error: any Error) throws {
        if let error = error as? PostgresError, case .connectionLost = error {
            try noteLoss(uncertain?.error ?? error)
        } else {
            throw uncertain?.error ?? error
        }
    }

    private mutating func noteLoss(_ error: PostgresError) throws(PostgresError) {
        guard lostConnections < Self.mostLostConnections else { throw error }
        lostConnections += 1
    }

    private static let mostConflicts = 3
    private static let mostLostConnections = 2
}

extension PostgresCondition {
    /// Whether a statement that is prepared again, or that runs a second time, can succeed.
    fileprivate var maySucceedAgain: Bool { allowsRepetition || self == .statementUnknown || self == .notSupported }

    /// Whether the statement is the cause, and not the state of the server: the other writes of a group can succeed.
    fileprivate var isOfOneWrite: Bool {
        switch self {
        case .uniqueViolation, .foreignKeyViolation, .checkViolation, .notNullViolation, .invalidText, .unknownObject,
            .notSupported, .other:
            true
        default: false
        }
    }
}
