import Downloads
import Locks

/// Passes the commits of all nodes to the observers in the order of the journal.
///
/// The writer brings the commits of this node, directly after each. The commits of other nodes are read from the journal. A
/// commit of this node waits here while an earlier one of another node is not read yet.
final class CommitOrder: Sendable {
    typealias Observer = @Sendable (Commit) -> Void

    fileprivate struct State {
        var observers: [Observer] = []
        /// The position of the last commit that was passed on.
        var position: Int64
        /// The last event that was passed on.
        var lastEvent: EventID
        /// Commits of this node that wait for earlier ones, by their positions.
        var waiting: [Int64: Commit] = [:]

        mutating func pass(_ commit: Commit) {
            var commit = commit
            if let first = commit.events.first?.id, first <= lastEvent {
                commit.events.removeAll { $0.id <= lastEvent }
            }
            lastEvent = commit.events.last?.id ?? lastEvent
            guard !commit.isEmpty else { return }
            for observer in observers { observer(commit) }
        }
    }

    private let state: Locked<State>

    /// - Parameters:
    ///   - position: of the last commit before.
    ///   - lastEvent: the last event of that commit, or of an earlier one.
    init(after position: Int64, lastEvent: EventID) {
        state = Locked(State(position: position, lastEvent: lastEvent))
    }

    /// - Returns: the last event before those that the observer receives.
    func add(_ observer: @escaping Observer) -> EventID {
        state.withLock { state in
            state.observers.append(observer)
            return state.lastEvent
        }
    }

    /// The last event that was passed on.
    var lastEvent: EventID { state.withLock(\.lastEvent) }

    /// The last commit and the last event that this node knows, also those that were not passed on yet.
    var seen: JournalGaps.Seen {
        state.withLock { state in
            let waiting = state.waiting.values.compactMap { $0.events.last?.id }.max() ?? 0
            return .init(
                commits: max(state.position, state.waiting.keys.max() ?? 0), lastEvent: max(state.lastEvent, waiting))
        }
    }

    /// A commit of this node.
    ///
    /// - Parameter position: nil if it has changed no data.
    func commit(_ commit: Commit, at position: Int64?) {
        state.withLock { state in
            guard let position, position > state.position else { return state.pass(commit) }
            state.waiting[position] = commit
            state.passWaiting()
        }
    }

    /// Whether there are commits up to the position that have to be read.
    func lacks(_ position: Int64) -> EventID? {
        state.withLock { $0.position < position ? $0.lastEvent : nil }
    }

    /// Passes on what was read from the journal.
    ///
    /// - Parameters:
    ///   - commit: the next events of the journal.
    ///   - position: the last commit whose events are complete with them; nil if more have to be read.
    func follow(_ commit: Commit, to position: Int64?) {
        state.withLock { state in
            guard let position else { return state.pass(commit) }
            var commit = commit
            for (at, own) in state.waiting where at <= position {
                commit.jobs.formUnion(own.jobs)
                commit.hasAnyJob = commit.hasAnyJob || own.hasAnyJob
                state.waiting[at] = nil
            }
            state.pass(commit)
            state.position = max(state.position, position)
            state.passWaiting()
        }
    }
}

extension CommitOrder.State {
    fileprivate mutating func passWaiting() {
        while let next = waiting.removeValue(forKey: position + 1) {
            position += 1
            pass(next)
        }
    }
}
