import Downloads
import Locks

/// Counts the running actions on each session. A deleted session is kept while it has a lease: the action that settles
/// the session reads it once more for its answer.
final class SessionLeases: Sendable {
    private let counts = Locked<[Name: Int]>([:])

    var sessions: Set<Name> { counts.withLock { Set($0.keys) } }

    func acquire(_ session: Name) {
        counts.withLock { $0[session, default: 0] += 1 }
    }

    func release(_ session: Name) {
        counts.withLock { counts in
            guard let count = counts[session] else { return }
            counts[session] = count > 1 ? count - 1 : nil
        }
    }
}
