import Base
import Dispatch
import Downloads
import Formats
import Foundation
import Logging

/// Makes all changes, in group commits: the writes that arrive during a commit share the next one.
///
/// A commit costs a disk sync. Sharing it allows thousands of jobs a second. A refused write does not affect the others. A
/// failed commit fails all of its writes.
package final class Writer: Sendable {
    let engine: any StoreEngine
    private let time: ServiceClock
    private let longestDeliveryDelay: TimeInterval
    private let ulids: Locked<ULIDSequence>
    private let jobCache: JobCache
    private let working = WorkingSet()
    private let settings: SettingsFollower
    private let sealer: Sealer
    private let order: CommitOrder
    private let onDue: @Sendable (Set<WorkKind>) -> Void
    let onReplacement: @Sendable (StoreError) -> Void
    private let measurements: StoreMeasurements
    let queue = DispatchQueue(label: "fetchd.writer", qos: .userInitiated)
    private let inbox = Locked(Inbox())
    let log: Logger
    let condition = Locked(Condition())
    /// The group whose commit failed with an unknown outcome, until the next group begins.
    let unsettled = Locked<WrittenGroup?>(nil)

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
    ///   - order: passes the commits on, after the hooks of their writes.
    ///   - onReplacement: see `Store.Options`.
    init(
        engine: any StoreEngine, time: ServiceClock, longestDeliveryDelay: TimeInterval,
        ulids: ULIDSequence, jobCache: JobCache, settings: SettingsFollower, sealer: Sealer,
        measurements: StoreMeasurements, log: Logger, order: CommitOrder,
        onDue: @escaping @Sendable (Set<WorkKind>) -> Void,
        onReplacement: @escaping @Sendable (StoreError) -> Void
    ) {
        self.engine = engine
        self.log = log
        self.time = time
        self.longestDeliveryDelay = longestDeliveryDelay
        self.ulids = Locked(ulids)
        self.jobCache = jobCache
        self.sealer = sealer
        self.measurements = measurements
        self.settings = settings
        self.order = order
        self.onDue = onDue
        self.onReplacement = onReplacement
    }

    /// Performs one change and returns when it is durable.
    ///
    /// - Parameter onCommit: is called on the writer's thread after the commit, in commit order and before the next
    ///   change begins. So memory that it updates agrees with the database. It must return quickly.
    package func write<Value: Sendable>(
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

    /// The number of writes that belong to no group yet.
    var waiting: Int { inbox.withLock { $0.writes.count } }

    private func drain() { while let group = nextGroup() { commit(group) } }

    private func takeArrived() -> [any PendingWrite] {
        inbox.withLock { inbox in
            defer { inbox.writes.removeAll() }
            return inbox.writes
        }
    }

    private func nextGroup() -> [any PendingWrite]? {
        inbox.withLock { inbox in
            inbox.isDraining = !inbox.writes.isEmpty
            defer { inbox.writes.removeAll() }
            return inbox.isDraining ? inbox.writes : nil
        }
    }

    func commit(_ arrived: [any PendingWrite]) {
        let watch = Stopwatch()
        var writes = arrived
        var group = WrittenGroup(writes: writes)
        do {
            group.position = try engine.commit { begun in
                // The engine may have waited for other commits. What has arrived meanwhile need not wait again.
                writes += takeArrived()
                settleFormer(at: begun.storedFormer)
                if let changed = begun.others?.jobs { working.follow(changed) } else { working.dropGroup() }
                if let others = begun.others { try follow(others, in: begun.db) }
                group = try perform(writes, in: begun)
            } notice: {
                group.notice
            }
            if group.position != nil { measurements.commits.record(watch) }
        } catch {
            // The end of the failed commit can be uncertain.
            working.fail(isUncertain: error.isUncertain)
            unsettled.withLock { $0 = error.isUncertain ? $0 ?? group : nil }
            if !error.isOver { report(error.error) }
            for write in writes { write.fail(error.error) }
            return
        }
        working.commit()
        follow(group)
        for write in writes { write.succeed() }
        if !group.due.isEmpty { onDue(group.due) }
        do { try engine.maintain() } catch { report(StoreError(error)) }
    }

    /// The outcome of the former group is known now. Its callers got an error.
    ///
    /// - Parameter position: nil: it is not stored.
    private func settleFormer(at position: Int64?) {
        guard var group = unsettled.withLock({ $0.take() }), let position else { return }
        group.position = position
        follow(group)
        if !group.due.isEmpty { onDue(group.due) }
    }

    /// Others have stored settings; or they have followed a jump of the clock, and have moved all future times.
    private func follow(_ others: ChangesOfOthers, in db: SQLConnection) throws {
        if time.lacksJump(others.lastJump) {
            time.follow(try StoredClock.jumps(in: db, after: time.lastJump ?? 0), last: others.lastJump)
            jobCache.removeAll()
            // They wait for times of the former clock.
            onDue(Set(WorkKind.allCases))
        }
        try settings.follow(others.settingsVersion, in: db)
    }

    private func perform(_ writes: [any PendingWrite], in begun: CommitGroup) throws -> WrittenGroup {
        // First, so that all writes of the group see the same clock, and stored times that agree with it.
        let clock = time.changeToStore(followsJumps: engine.cluster?.isLeader ?? true)
        var group = WrittenGroup(writes: writes, clock: clock)
        if let clock { group.due.formUnion(try follow(clock, in: begun)) }
        let isOnly = writes.count == 1 && clock == nil
        for write in writes {
            if let made = try perform(write, isOnly: isOnly, clock?.view ?? time.view, in: begun) { group.add(made) }
        }
        try group.counts.write(in: begun.db)
        group.jobs = try newVersions(of: jobCache.cachedIDs(in: group.changes.jobs), in: begun.db)
        return group
    }

    /// The group is durable: updates what is kept in memory, and informs the hooks and the observers.
    private func follow(_ group: WrittenGroup) {
        for (ending, seconds) in group.changes.endings { measurements.jobs[ending].record(seconds: seconds) }
        if let clock = group.clock {
            time.follow(clock)
            // The wait of any job may end at another time now.
            if clock.jump != nil || clock.isFirst { jobCache.removeAll() }
        }
        // The cache and the hooks come first: a caller that sees its write return finds all that follows from it.
        jobCache.update(group.changes.jobs, with: group.jobs, at: group.position)
        for write in group.writes { write.runCommitHook() }
        order.commit(group.changes, at: group.position)
    }

    /// The cached jobs as they are at the end of the commit.
    private func newVersions(of jobs: [JobID], in db: SQLConnection) throws -> [JobID: Job] {
        try jobs.reduce(into: [:]) { $0[$1] = try working.jobs.ofGroup($1) ?? JobRow.job($1, in: db, sealer) }
    }

    /// - Returns: nil when the write was refused and rolled back.
    private func perform(
        _ write: any PendingWrite, isOnly: Bool, _ clock: ClockView, in begun: CommitGroup
    ) throws -> Transaction? {
        let transaction = transaction(clock, in: begun)
        let before = begun.numbers.last
        guard try attempt(write, isOnly: isOnly, transaction, in: begun) else {
            working.dropWrite()
            begun.numbers.goBack(to: before)
            return nil
        }
        working.keepWrite()
        return transaction
    }

    private func attempt(
        _ write: any PendingWrite, isOnly: Bool, _ transaction: Transaction, in begun: CommitGroup
    ) throws -> Bool {
        do {
            return try begun.attempt(isOnly) { write.perform(in: transaction) }
        } catch let refused as RefusedWrite {
            write.refuse(refused.error)
            return false
        }
    }

    private func follow(_ change: ClockChange, in begun: CommitGroup) throws -> Set<WorkKind> {
        let transaction = transaction(change.view, in: begun)
        try transaction.follow(change, longestDeliveryDelay: longestDeliveryDelay)
        try transaction.finish()
        // A jump moves the times of all rows.
        if change.jump != nil || change.isFirst { working.removeAll() } else { working.keepWrite() }
        return transaction.due
    }

    private func transaction(_ clock: ClockView, in begun: CommitGroup) -> Transaction {
        let now = Date(milliseconds: clock.time(at: time.uptime).milliseconds)
        return Transaction(
            db: begun.db, now: now, confidence: clock.confidence, working: working, sealer: sealer,
            numbers: begun.numbers, node: engine.cluster?.node
        ) { [ulids] in
            ulids.withLock { $0.next(at: now) }
        }
    }
}

extension Writer {
    /// Closes the database after the writes that arrived before.
    func close() async throws(StoreError) {
        let outcome: Result<Void, StoreError> = await withCheckedContinuation { continuation in
            queue.async { [self] in
                condition.withLock { $0.isClosed = true }
                continuation.resume(returning: Result { () throws(StoreError) in try engine.close() })
            }
        }
        try outcome.get()
    }
}

/// Handles failures of the disk, and notices when it works again.
extension Writer {
    /// Why writes fail now, or are only in the log; nil when the disk works.
    var fault: StoreError? { condition.withLock { $0.fault } }

    /// Records a fault, and probes every second until it has passed.
    func report(_ fault: StoreError) {
        guard note(fault) else { return }
        log.error("\(fault) fetchd may refuse requests that change data, and tries to write again every second.")
        scheduleProbe()
    }

    private func scheduleProbe() { queue.asyncAfter(deadline: .now() + 1) { [self] in probe() } }

    private func probe() {
        guard !condition.withLock({ $0.isClosed }) else { return }
        do {
            try engine.probe()
            // Begins a group, and so settles the former one.
            if unsettled.withLock({ $0 != nil }) { commit([]) }
            condition.withLock { $0.fault = nil }
            log.notice("fetchd can write the database again.")
        } catch {
            _ = note(StoreError(error))
            scheduleProbe()
        }
    }

    /// - Returns: whether there was no fault before.
    private func note(_ fault: StoreError) -> Bool {
        let isReplaced = if case .databaseInUse = fault { true } else { fault.isLossOfNode }
        if isReplaced { onReplacement(fault) }
        return condition.withLock { condition in
            defer { condition.fault = fault }
            return condition.fault == nil
        }
    }
}

/// A write that waits for its commit. The writer's thread calls the methods in the order below, each at most
/// once, except that a group that begins again performs its writes again.
protocol PendingWrite: AnyObject, Sendable {
    /// Makes the change.
    ///
    /// - Returns: false when the change was refused; the engine undoes what it has written.
    func perform(in transaction: Transaction) -> Bool
    /// The database has refused a statement of the change: `perform` counts as refused with this error.
    func refuse(_ error: StoreError)
    /// The commit is durable: calls the commit hook.
    func runCommitHook()
    /// Resumes the caller with the result of `perform`.
    func succeed()
    /// The commit failed: resumes the caller with the error.
    func fail(_ error: StoreError)
}

/// A write whose caller waits on a continuation.
final class ContinuedWrite<Value: Sendable>: PendingWrite, @unchecked Sendable {
    private let body: @Sendable (Transaction) throws -> Value
    private let onCommit: @Sendable (Value) -> Void
    private let continuation: CheckedContinuation<Value, any Error>
    /// Only the writer's thread reads or writes it.
    private var result: Result<Value, any Error>?

    init(
        body: @escaping @Sendable (Transaction) throws -> Value, onCommit: @escaping @Sendable (Value) -> Void,
        continuation: CheckedContinuation<Value, any Error>
    ) {
        self.body = body
        self.onCommit = onCommit
        self.continuation = continuation
    }

    func perform(in transaction: Transaction) -> Bool {
        let outcome = Result {
            let value = try body(transaction)
            try transaction.finish()
            return value
        }
        result = outcome
        if case .success = outcome { return true }
        return false
    }

    func refuse(_ error: StoreError) { result = .failure(error) }

    func runCommitHook() { if case .success(let value) = result { onCommit(value) } }

    func succeed() {
        switch result {
        case .success(let value): continuation.resume(returning: value)
        case .failure(let error as StoreError): continuation.resume(throwing: error)
        case .failure(let error): continuation.resume(throwing: StoreError(error))
        case nil: continuation.resume(throwing: StoreError.failed(why: "the writer did not begin the change"))
        }
    }

    func fail(_ error: StoreError) { continuation.resume(throwing: error) }
}
