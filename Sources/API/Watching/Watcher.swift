import Locks

/// A request or a stream that waits for a change. A ring that comes while the watcher is awake is kept, so that a change
/// between its last look and its sleep wakes it at once.
final class Watcher: Sendable {
    enum Waking: Sendable {
        /// Something may have happened.
        case rung
        /// The deadline has passed.
        case overdue
        /// There is nothing to wait for any more: the client hung up, or the service stops.
        case closed
    }

    private enum State {
        case awake
        case woken(Waking)
        case asleep(CheckedContinuation<Waking, Never>)
        case closed
    }

    /// The topics that ring it.
    let topics: [Topic]
    private let state = Locked(State.awake)

    init(of topics: [Topic]) { self.topics = topics }

    func ring() { wake(.rung) }
    func expire() { wake(.overdue) }

    /// Ends the sleep under way, and every later one at once.
    func close() {
        let sleeper: CheckedContinuation<Waking, Never>? = state.withLock { state in
            defer { state = .closed }
            return if case .asleep(let sleeper) = state { sleeper } else { nil }
        }
        sleeper?.resume(returning: .closed)
    }

    /// Sleeps until a ring or the deadline wakes it, or the task is cancelled. One task at a time.
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
            // An update has precedence over the deadline: a watcher that gets both reads the state.
            case .woken: state = .woken(.rung)
            case .closed: break
            }
            return nil
        }
        sleeper?.resume(returning: waking)
    }
}
