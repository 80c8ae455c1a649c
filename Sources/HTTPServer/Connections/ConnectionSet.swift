// All open connections, for those who have to go through them: the sweep that enforces time limits, and the stop.

import Locks
import Synchronization

/// The open connections and how far the server has come in closing them.
///
/// The stage lives here because of one rule: whoever begins to wait or to stream notes it in its connection first and
/// reads the stage afterwards, while a stop sets the stage first and goes through the connections afterwards. One of
/// the two always sees the other, so that no wait outlives a stop.
final class ConnectionSet: Sendable {
    enum Stage: UInt8, AtomicRepresentable {
        case open
        /// No new connections; every answer is the last of its connection; streams are finished.
        case closing
        /// Nothing may be waited for any more.
        case cutShort
    }

    private let connections = Locked<[ObjectIdentifier: Connection]>([:])
    private let current = Atomic<Stage>(.open)

    var stage: Stage { current.load(ordering: .sequentiallyConsistent) }

    var isEmpty: Bool { connections.withLock { $0.isEmpty } }
    var count: Int { connections.withLock { $0.count } }

    func insert(_ connection: Connection) {
        connections.withLock { $0[ObjectIdentifier(connection)] = connection }
    }

    func remove(_ connection: Connection) {
        connections.withLock { $0[ObjectIdentifier(connection)] = nil }
    }

    /// Enforces the time limits. A sweep rather than a timer for each request: it costs one walk over at most
    /// `connectionLimit` entries now and then, and a request costs nothing.
    func expire(at now: Connection.Instant, limits: HTTPServer.Options, overdue: (RequestHead) -> Response) {
        for connection in snapshot() {
            guard let answer = connection.expire(at: now, limits: limits) else { continue }
            answer.settle(with: overdue(answer.head))
        }
    }

    /// Closes what is idle and finishes what would never end by itself; the rest may go on.
    func beginClosing() {
        current.store(.closing, ordering: .sequentiallyConsistent)
        for connection in snapshot() {
            if case .streaming(let stream) = connection.phaseForStopping() { stream.close(.serverStopped) }
        }
    }

    /// Answers everything that still waits, and lets nothing wait from now on.
    func cutShort(stopping: (RequestHead) -> Response) {
        current.store(.cutShort, ordering: .sequentiallyConsistent)
        for connection in snapshot() {
            if case .waiting(let answer, _) = connection.phaseForStopping() {
                answer.settle(with: stopping(answer.head))
            }
        }
    }

    private func snapshot() -> [Connection] {
        connections.withLock { Array($0.values) }
    }
}
