import Base
import Downloads

/// The changes of one commit. Observers receive it on the writer's thread, in commit order, before any caller's write
/// returns.
public struct Commit: Sendable {
    /// In the order of their identifiers, which continue those of the previous commit.
    public var events: [Event] = []
    /// Jobs that the commit has changed or deleted.
    public var jobs: Set<JobID> = []
    /// Whether any other job may have changed, too: another service has not said which, or its notice was lost.
    public var hasAnyJob = false
    /// Jobs that have ended, with the seconds since their creation.
    var endings: [(ending: BatchSignal.Ending, seconds: Double)] = []

    public init() {}

    public var isEmpty: Bool { events.isEmpty && jobs.isEmpty && !hasAnyJob }

    mutating func add(_ other: Commit) {
        events += other.events
        jobs.formUnion(other.jobs)
        hasAnyJob = hasAnyJob || other.hasAnyJob
        endings += other.endings
    }
}

/// A position in the order of all commits: that of the last commit, and the last event of it or of an earlier one.
package struct JournalPosition: Sendable {
    package var commits: Int64
    package var lastEvent: EventID

    package init(commits: Int64 = 0, lastEvent: EventID = 0) {
        self.commits = commits
        self.lastEvent = lastEvent
    }
}

/// What the writes of a group have changed. It is true when the group is durable.
///
/// Only the writer's thread uses it.
struct WrittenGroup: @unchecked Sendable {
    var writes: [any PendingWrite]
    /// The change of the clock that the group follows.
    var clock: ClockChange?
    /// In the order of all commits; nil if it has changed no data, and before it is committed.
    var position: Int64?
    var due: Set<WorkKind> = []
    var changes = Commit()
    var counts = CountChanges()
    /// The cached jobs as they are at the end of the group.
    var jobs: [JobID: Job] = [:]

    /// For the other services of the database.
    var notice: CommitNotice {
        // A change of the clock moves the times of any job.
        let movesTimes = clock.map { $0.jump != nil || $0.isFirst } ?? false
        return CommitNotice(work: due, jobs: movesTimes ? .any : .these(changes.jobs))
    }

    mutating func add(_ transaction: Transaction) {
        due.formUnion(transaction.due)
        changes.add(transaction.changes)
        counts.add(transaction.counts)
    }
}

/// Passes the commits of all services to the observers in the order of the journal.
///
/// The writer brings the commits of this service, directly after each. The commits of other services are read from the journal. A
/// commit of this service waits here while an earlier one of another service is not read yet.
package final class CommitOrder: Sendable {
    typealias Observer = @Sendable (Commit) -> Void

    fileprivate struct State {
        var observers: [Observer] = []
        /// The position of the last commit that was passed on.
        var position: Int64
        /// The last event that was passed on.
        var lastEvent: EventID
        /// Commits of this service that wait for earlier ones, by their positions.
        var waiting: [Int64: Commit] = [:]
    }

    private let state: Locked<State>
    /// Held while observers are called, so that they receive one commit after another. Only `commit` and `follow` take it: an
    /// observer may wait for a lock that another thread holds while it asks for the last event, or adds an observer.
    private let turn = Locked<Void>(())

    init(after start: JournalPosition) { state = Locked(State(position: start.commits, lastEvent: start.lastEvent)) }

    /// - Returns: the last event before those that the observer receives.
    func add(_ observer: @escaping Observer) -> EventID {
        state.withLock { state in
            state.observers.append(observer)
            return state.lastEvent
        }
    }

    /// The last event that the observers have received, or receive now.
    var lastEvent: EventID { state.withLock(\.lastEvent) }

    /// The last commit and the last event that this service knows, also those that were not passed on yet.
    package var seen: JournalPosition {
        state.withLock { state in
            let waiting = state.waiting.values.compactMap { $0.events.last?.id }.max() ?? 0
            return JournalPosition(
                commits: max(state.position, state.waiting.keys.max() ?? 0), lastEvent: max(state.lastEvent, waiting))
        }
    }

    /// A commit of this service. The observers have received it when this returns, unless it waits for an earlier one.
    ///
    /// - Parameter position: nil if it has changed no data.
    func commit(_ commit: Commit, at position: Int64?) {
        turn.withLock { _ in
            let isNext = state.withLock { state in
                guard let position, position > state.position else { return true }
                state.waiting[position] = commit
                return false
            }
            if isNext { pass(commit) } else { passWaiting() }
        }
    }

    /// Whether there are commits up to the position that have to be read.
    func lacks(_ position: Int64) -> EventID? { state.withLock { $0.position < position ? $0.lastEvent : nil } }

    /// Passes on what was read from the journal.
    ///
    /// - Parameters:
    ///   - commit: the next events of the journal.
    ///   - position: the last commit whose events are complete with them; nil if more have to be read.
    func follow(_ commit: Commit, to position: Int64?) {
        turn.withLock { _ in
            guard let position else { return pass(commit) }
            var commit = commit
            for own in state.withLock({ $0.takeWaiting(upTo: position) }) {
                commit.jobs.formUnion(own.jobs)
                commit.hasAnyJob = commit.hasAnyJob || own.hasAnyJob
            }
            pass(commit)
            state.withLock { $0.position = max($0.position, position) }
            passWaiting()
        }
    }

    private func passWaiting() {
        while let next = state.withLock({ $0.takeNext() }) { pass(next) }
    }

    private func pass(_ commit: Commit) {
        var commit = commit
        let observers = state.withLock { state in
            if let first = commit.events.first?.id, first <= state.lastEvent {
                commit.events.removeAll { $0.id <= state.lastEvent }
            }
            state.lastEvent = commit.events.last?.id ?? state.lastEvent
            return state.observers
        }
        guard !commit.isEmpty else { return }
        for observer in observers { observer(commit) }
    }
}

extension CommitOrder.State {
    fileprivate mutating func takeWaiting(upTo position: Int64) -> [Commit] {
        waiting.keys.filter { $0 <= position }.compactMap { waiting.removeValue(forKey: $0) }
    }

    fileprivate mutating func takeNext() -> Commit? {
        guard let next = waiting.removeValue(forKey: position + 1) else { return nil }
        position += 1
        return next
    }
}
