import Dispatch
import Downloads
import Formats
import Foundation
import GRDB
import Locks
import Logging
import Metrics

/// Makes all changes, in group commits: the writes that arrive during a commit share the next one.
///
/// A commit with `synchronous=FULL` costs a disk sync. Sharing it allows thousands of jobs a second. Each write has its
/// own savepoint, so a refused write does not affect the others. A failed commit fails all of its writes.
final class Writer: Sendable {
    let connections: Connections
    let commits: CommitCount
    private let time: ServiceClock
    private let longestDeliveryDelay: TimeInterval
    private let ulids: Locked<ULIDSequence>
    private let jobCache: JobCache
    private let working: WorkingSet
    private let sealer: Sealer
    private let onCommit: @Sendable (Commit) -> Void
    private let onDue: @Sendable (Set<WorkKind>) -> Void
    private let measurements: StoreMeasurements
    let queue = DispatchQueue(label: "fetchd.writer", qos: .userInitiated)
    private let inbox = Locked(Inbox())
    let log: Logger
    let condition = Locked(Condition())

    struct Condition {
        var fault: StoreError?
        var isClosed = false
    }

    private struct Inbox {
        var writes: [any PendingWrite] = []
        var isDraining = false
    }

    /// - Parameters:
    ///   - longestDeliveryDelay: see `Store.Options`.
    ///   - onCommit: is called after the hooks of the commit's writes.
    init(
        connections: Connections, commits: CommitCount, time: ServiceClock, longestDeliveryDelay: TimeInterval,
        ulids: ULIDSequence, jobCache: JobCache, tokens: TokenTable, sealer: Sealer, measurements: StoreMeasurements,
        log: Logger,
        onCommit: @escaping @Sendable (Commit) -> Void, onDue: @escaping @Sendable (Set<WorkKind>) -> Void
    ) {
        self.connections = connections
        self.commits = commits
        self.log = log
        self.time = time
        self.longestDeliveryDelay = longestDeliveryDelay
        self.ulids = Locked(ulids)
        self.jobCache = jobCache
        self.sealer = sealer
        self.measurements = measurements
        working = WorkingSet(tokens: tokens)
        self.onCommit = onCommit
        self.onDue = onDue
    }

    /// Performs one change and returns when it is durable.
    ///
    /// - Parameter onCommit: is called on the writer's thread after the commit, in commit order and before the next
    ///   change begins. So memory that it updates agrees with the database. It must return quickly.
    func write<Value: Sendable>(
        onCommit: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(ContinuedWrite(body: body, onCommit: onCommit, continuation: continuation))
        }
    }

    func nextULID() -> ULID { ulids.withLock { $0.next(at: time.now) } }

    private func enqueue(_ write: any PendingWrite) {
        let startsDraining = inbox.withLock { inbox in
            inbox.writes.append(write)
            defer { inbox.isDraining = true }
            return !inbox.isDraining
        }
        if startsDraining { queue.async { self.drain() } }
    }

    private func drain() {
        while let group = nextGroup() { commit(group) }
    }

    private func nextGroup() -> [any PendingWrite]? {
        inbox.withLock { inbox in
            guard !inbox.writes.isEmpty else {
                inbox.isDraining = false
                return nil
            }
            defer { inbox.writes.removeAll() }
            return inbox.writes
        }
    }

    private func commit(_ group: [any PendingWrite]) {
        let watch = Stopwatch()
        var due: Set<WorkKind> = []
        var changes = Commit()
        var counts = CountChanges()
        var jobs: [JobID: Job] = [:]
        // First, so that all writes of the group see the same clock, and stored times that agree with it.
        let clock = time.changeToStore()
        do {
            try connections.pool.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    let before = db.totalChangesCount
                    let (numbers, connection) = (EventNumbers(), SQLConnection(db))
                    if let clock { due.formUnion(try follow(clock, numbers, in: connection)) }
                    for write in group {
                        guard let transaction = try perform(write, clock?.view ?? time.view, numbers, in: connection)
                        else { continue }
                        due.formUnion(transaction.due)
                        changes.add(transaction.changes)
                        counts.add(transaction.counts)
                    }
                    try counts.write(in: connection)
                    if db.totalChangesCount > before { try commits.count(in: db) }
                    jobs = try newVersions(of: jobCache.cachedIDs(in: changes.jobs), in: connection)
                    return .commit
                }
            }
        } catch {
            // The end of the failed commit can be uncertain.
            working.removeAll()
            let error = fault(after: error)
            for write in group { write.fail(error) }
            return
        }
        working.commit()
        if commits.note(changes.events.last?.id) { measurements.commits.record(watch) }
        for (ending, seconds) in changes.endings { measurements.jobs[ending].record(seconds: seconds) }
        if let clock {
            time.follow(clock)
            // The wait of any job may end at another time now.
            if clock.jump != nil || clock.isFirst { jobCache.removeAll() }
        }
        // The cache and the hooks come first: a caller that sees its write return finds all that follows from it.
        jobCache.update(changes.jobs, with: jobs)
        for write in group { write.runCommitHook() }
        if !changes.isEmpty { onCommit(changes) }
        for write in group { write.succeed() }
        if !due.isEmpty { onDue(due) }
        do { try connections.checkpointWhereDue() } catch { report(StoreError(error)) }
    }

    /// The cached jobs as they are at the end of the commit.
    private func newVersions(of jobs: [JobID], in db: SQLConnection) throws -> [JobID: Job] {
        try jobs.reduce(into: [:]) { $0[$1] = try working.jobs.ofGroup($1) ?? JobRow.job($1, in: db, sealer) }
    }

    /// - Returns: nil when the write was refused and rolled back.
    private func perform(
        _ write: any PendingWrite, _ clock: ClockView, _ numbers: EventNumbers, in db: SQLConnection
    ) throws -> Transaction? {
        let transaction = transaction(clock, numbers, in: db)
        let before = numbers.last
        var isKept = false
        try db.sqlite.inSavepoint {
            isKept = write.perform(in: transaction)
            return isKept ? .commit : .rollback
        }
        guard isKept else {
            working.dropWrite()
            numbers.goBack(to: before)
            return nil
        }
        working.keepWrite()
        return transaction
    }

    private func follow(_ change: ClockChange, _ numbers: EventNumbers, in db: SQLConnection) throws -> Set<WorkKind> {
        let transaction = transaction(change.view, numbers, in: db)
        try transaction.follow(change, longestDeliveryDelay: longestDeliveryDelay)
        // A jump moves the times of all rows.
        if change.jump != nil || change.isFirst { working.removeAll() } else { working.keepWrite() }
        return transaction.due
    }

    private func transaction(_ clock: ClockView, _ numbers: EventNumbers, in db: SQLConnection) -> Transaction {
        let now = Date(milliseconds: clock.time(at: time.uptime).milliseconds)
        return Transaction(
            db: db, now: now, confidence: clock.confidence, working: working, sealer: sealer, numbers: numbers
        ) { [ulids] in
            ulids.withLock { $0.next(at: now) }
        }
    }
}
