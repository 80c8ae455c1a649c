import Locks

/// A task that waits for a change, for a stream or for a request that cannot be parked. A ring that comes while the watcher is awake is kept. So a change
/// between its last read and its sleep wakes it at once.
final class Watcher: TopicObserver {
    enum Waking: Sendable {
        /// A change may have occurred.
        case rung
        /// The deadline has passed.
        case overdue
        /// The wait is over: the client disconnected, or the service stops.
        case closed
    }

    private enum State {
        case awake
        case woken(Waking)
        case asleep(CheckedContinuation<Waking, Never>)
        case closed
    }

    /// The topics that ring the watcher.
    let topics: [Topic]
    private let state = Locked(State.awake)

    init(of topics: [Topic]) { self.topics = topics }

    func ring() { wake(.rung) }
    func expire() { wake(.overdue) }

    /// Ends the present sleep, and every later one at once.
    func close() {
        let sleeper: CheckedContinuation<Waking, Never>? = state.withLock { state in
            defer { state = .closed }
            return if case .asleep(let sleeper) = state { sleeper } else { nil }
        }
        sleeper?.resume(returning: .closed)
    }

    /// Sleeps until the watcher is rung, expired or closed, or the task is cancelled. Only one task may sleep at a
    /// time.
    func sleep() async -> Waking {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waking: Waking? = state.withLock { state in
                    switch state {
                    case .awake, .asleep:
                        state = .asleep(continuation)
                        return nil
                    case .woken(let waking):
                        state = .awake
                        return waking
                    case .closed: return .closed
                    }
                }
                if let waking { continuation.resume(returning: waking) }
            }
        } onCancel: {
            close()
        }
    }

    private func wake(_ waking: Waking) {
        let sleeper: CheckedContinuation<Waking, Never>? = state.withLock { state in
            switch state {
            case .asleep(let sleeper):
                state = .awake
                return sleeper
            case .awake: state = .woken(waking)
            // A change takes precedence over the deadline: a watcher that gets both reads the state.
            case .woken: state = .woken(.rung)
            case .closed: break
            }
            return nil
        }
        sleeper?.resume(returning: waking)
    }
}
