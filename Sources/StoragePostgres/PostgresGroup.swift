import Downloads
import Foundation
import PostgresClient
import Storage

/// A group commit on PostgreSQL, without savepoints, which would cost more than all else. If a refused write has changed
/// something, the group runs again without it.
final class PostgresGroup {
    let session: PostgresSession
    private(set) var numbers = EventNumbers()
    /// `journal.commits` before this group.
    private(set) var position: Int64 = 0
    /// The last group commit of this node.
    private(set) var previous = ""
    /// The number of the node that leads; nil if none does.
    private(set) var leader: Int64?
    /// The jobs that other nodes have changed since the last commit of this store; nil: they have changed nothing.
    private(set) var changedByOthers: CommitNotice.Jobs?
    private var lastJump: Int64 = 0
    private var settingsVersion: Int64 = 0
    /// See `JournalGaps`; nil without a node.
    private(set) var found: JournalGaps.Found?
    /// Identifies this group among those of its node.
    let id = UUID().uuidString
    /// The write that was refused after it had changed something, by its place in the group.
    private(set) var undone: Int?
    private let node: Node?
    private let gaps: JournalGaps?
    private let excluded: [Int: StoreError?]
    private var lastEvent: EventID = 0
    private var count = 0

    /// - Parameters:
    ///   - node: nil: the tables are not those of a service. For tests.
    ///   - gaps: those of the node.
    ///   - excluded: see `GroupAttempts`.
    init(_ session: PostgresSession, of node: Node?, _ gaps: JournalGaps?, excluded: [Int: StoreError?]) {
        self.session = session
        self.node = node
        self.gaps = gaps
        self.excluded = excluded
    }

    /// Makes this node the one that writes.
    ///
    /// - Parameter known: the position of the journal after the last commit of this store.
    /// - Throws: `StoreError.nodeReplaced` if this process is not the node any more.
    func lock(known: Int64?) throws {
        let results = try session.together([
            ("SELECT last, commits, leader, settings FROM journal WHERE id = 1 FOR UPDATE", []),
            // The snapshot of this query is later than the lock, so it has what the former holder of the lock has changed.
            (Self.state + (gaps.map { ", " + $0.columns } ?? ""), ["node": node?.number ?? 0]),
            (Self.notices, [known ?? Int64.max]),
        ])
        guard let journal = results[0].first, let state = results[1].first else {
            throw StoreError.failed(why: "the journal has no row")
        }
        if let node, try state[0] as Int64? != node.epoch { throw StoreError.nodeReplaced }
        lastEvent = try journal[0]
        position = try journal[1]
        leader = try journal[2]
        previous = try state[1] ?? ""
        numbers = EventNumbers(after: lastEvent)
        changedByOthers = position == known ? nil : try changes(since: known, results[2])
        lastJump = try state[2] ?? 0
        settingsVersion = try journal[3]
        guard gaps != nil else { return }
        found = try .init(commits: position, lastGap: state["last_gap"], isContinued: state["is_continued"])
    }

    /// - Parameter storedFormer: see `CommitGroup`.
    func begun(storedFormer: Int64?) -> CommitGroup {
        CommitGroup(
            SQLConnection(session), numbers, storedFormer: storedFormer,
            others: ChangesOfOthers(jobs: changedByOthers, lastJump: lastJump, settingsVersion: settingsVersion),
            attempt: attempt)
    }

    /// The notice of each commit since then tells which jobs it has changed. If one is missing, it may have changed any.
    private func changes(since known: Int64?, _ rows: [SQLRow]) throws -> CommitNotice.Jobs {
        guard let known, position - known == rows.count else { return .any }
        var changed: Set<JobID> = []
        for row in rows {
            guard case .these(let jobs)? = try CommitNotice.parse(row[0])?.notice.jobs else { return .any }
            changed.formUnion(jobs)
        }
        return .these(changed)
    }

    private static let notices = "SELECT notice FROM commit_notices WHERE position > ? ORDER BY position LIMIT 64"

    private static let state = """
        SELECT (SELECT epoch FROM nodes WHERE number = :node), (SELECT id FROM last_commits WHERE node = :node),
            (SELECT number FROM clock_jumps ORDER BY number DESC LIMIT 1)
        """

    /// - Throws: `RefusedWrite` if the database refuses the write; another error if the group must run again, or has failed.
    private func attempt(isOnly: Bool, _ change: () -> Bool) throws -> Bool {
        let index = count
        count += 1
        if let excluded = excluded[index] {
            if let excluded { throw RefusedWrite(error: excluded) }
            return false
        }
        let changes = session.changes
        session.owner = index
        defer { session.owner = nil }
        let isKept = change()
        if let failure = session.failure { throw failure.error }
        guard !isKept, session.changes != changes else { return isKept }
        undone = index
        throw PostgresError.rolledBack
    }

    /// Commits if the group has changed anything.
    ///
    /// - Parameters:
    ///   - channel: of the notices to other nodes.
    ///   - notice: for the other nodes.
    ///   - isKept: whether another node will probably write soon, and need the notice before it is notified.
    /// - Returns: whether it has.
    func commit(to channel: String, _ notice: CommitNotice, isKept: Bool) throws -> Bool {
        guard session.changes > 0 else {
            session.rollBack()
            return false
        }
        let number = node?.number ?? 0
        try session.run(
            "UPDATE journal SET last = ?, commits = ? WHERE id = 1", [numbers.last ?? lastEvent, position + 1])
        try session.run(
            "INSERT INTO last_commits (node, id) VALUES (?1, ?2) ON CONFLICT (node) DO UPDATE SET id = ?2",
            [number, id])
        let text = notice.text(at: position + 1, of: number)
        try session.run("SELECT pg_notify(?, ?)", [channel, text])
        if isKept { try keep(text) }
        try session.commit()
        return true
    }

    private func keep(_ notice: String) throws {
        let own = position + 1
        try session.run("INSERT INTO commit_notices (position, notice) VALUES (?, ?)", [own, notice])
        guard own % 16 == 0 else { return }
        try session.run("DELETE FROM commit_notices WHERE position <= ?", [own - 64])
    }

    func rollBack() { session.rollBack() }
}

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
    fileprivate var maySucceedAgain: Bool { self == .conflict || outdatesStatements }

    /// Whether the statement is the cause, and not the state of the server: the other writes of a group can succeed.
    fileprivate var isOfOneWrite: Bool { [.dataRefused, .unknownObject, .notSupported, .other].contains(self) }
}
