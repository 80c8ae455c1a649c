import Downloads
import Locks

/// Sessions with an action under way. A deleted session may be settled by the very action that somebody waits for: it
/// stays until the answer has been read.
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
