import Locks

/// Bytes that all transfers together have received since the start.
final class ReceivedBytes: Sendable {
    private struct State {
        var total: Int64 = 0
        var history = ThroughputHistory()
    }

    private let state = Locked(State())

    var bytes: Int64 { state.withLock(\.total) }

    func add(_ bytes: Int64, at now: Duration) {
        state.withLock { state in
            state.total += bytes
            state.history.add(bytes, at: now)
        }
    }

    /// See `ThroughputHistory.rates`.
    func rates(at now: Duration, since start: Duration) -> [Int64] {
        state.withLock { $0.history.rates(at: now, since: start) }
    }
}
